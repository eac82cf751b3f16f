/** What warnings claim of truth and of texts holds: asked of the independent evaluator and of the regex engine. */
import { describe, expect, it } from 'vitest';
import { SELECTED, verdictOf } from '../../../../src/core/verdict.js';
import { decodeJson } from '../../../../src/codec/json/decode.js';
import { compileLaser } from '../../../../src/filter/dialect/laser/compile.js';
import { Evaluator } from '../../../../src/filter/evaluate.js';
import { compileText, TEXT_YES } from '../../../../src/filter/text.js';
import type { TextKind } from '../../../../src/filter/ir.js';
import { givenRecord } from '../../../support/oracle.js';
import { FILTER_DOUBLES, FILTER_INTEGERS, FILTER_TEXTS, randomFilter } from '../../../support/random-filter.js';
import { cachedRegexEngine } from '../../../support/regex-engine.js';
import { Seeded } from '../../../support/seeded.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const VALUES = [
  'null',
  'true',
  'false',
  '[]',
  '["a",5]',
  '{}',
  ...FILTER_DOUBLES,
  ...FILTER_INTEGERS.map(String),
  ...FILTER_TEXTS.map((text) => JSON.stringify(text)),
];

/** Leaf nodes of random filters as JSON texts, all about `a`, `d` or a member of `d`. */
function leafTexts(seeded: Seeded, count: number): string[] {
  const leaves: string[] = [];
  while (leaves.length < count) {
    // Texts, because integers do not pass through doubles.
    const expr = /"expr":(.*?),"codec"/s.exec(randomFilter(seeded, { codec: 'json', depthMax: 1 }))?.[1];
    if (expr === undefined || expr.startsWith('{"header')) continue;
    const path = JSON.stringify(seeded.pick(['a', 'a', 'd', 'd.e']));
    leaves.push(expr.replace(/("field":|"present":|"absent":)"(?:[^"\\]|\\.)*"/, (_, member: string) => member + path));
  }
  return leaves;
}

function payloadOf(seeded: Seeded): string {
  const value = (): string => seeded.pick(VALUES);
  const members: string[] = [];
  if (seeded.chance(0.9)) members.push(`"a":${value()}`);
  if (seeded.chance(0.9)) members.push(`"d":${seeded.chance(0.5) ? value() : `{"e":${value()}}`}`);
  return `{${members.join(',')}}`;
}

describe('a warning about truth', () => {
  it('is right: what can never be true selects nothing, what always is selects everything', () => {
    const seeded = new Seeded(21);
    const leaves = leafTexts(seeded, 400);
    const claims = { never: 0, always: 0 };
    for (let round = 0; round < 1500; round += 1) {
      const group = seeded.pick(['all', 'any']);
      const children = [seeded.pick(leaves), seeded.pick(leaves), seeded.pick(leaves)];
      const text = `{"v":1,"evaluator_version":1,"expr":{"${group}":[${children.join(',')}]},"codec":"json"}`;
      const options = { strict: true, regex: cachedRegexEngine, seeksMistakes: true };
      const { warnings, lowered } = compileLaser(text, options);
      const atTop = warnings.filter(({ pointer }) => /^\/expr\/(?:all|any)\/\d$/.test(pointer));
      const isNever = atTop.some(({ reason }) => reason === 'never_true' || reason === 'number_against_text');
      const isAlways = atTop.some(({ reason }) => reason === 'always_true');
      if (!isNever && !isAlways) continue;
      claims.never += Number(isNever);
      claims.always += Number(isAlways);
      const oracle = new Evaluator(lowered, decodeJson, cachedRegexEngine);
      for (let record = 0; record < 60; record += 1) {
        const payload = payloadOf(seeded);
        const outcome = oracle.evaluate(givenRecord([], Buffer.from(payload)), LIMITS);
        expect({ text, payload, isSelected: verdictOf(outcome) === SELECTED }).toEqual({
          text,
          payload,
          isSelected: isAlways,
        });
      }
    }
    expect(claims.never).toBeGreaterThan(300);
    expect(claims.always).toBeGreaterThan(0);
  });
});

describe('a warning about a pattern', () => {
  const PIECES = [
    'a',
    'b',
    'é',
    '🛰',
    ' ',
    '\\.',
    '\\*',
    '\\-',
    '\\/',
    '-',
    '5',
    '#',
    '.',
    'a+',
    '\\d',
    '[ab]',
    '^',
    '$',
  ];

  it('is right: a plain regex finds what the named kind finds, a leading `.*` changes nothing', () => {
    const seeded = new Seeded(22);
    const met = new Map<string, number>();
    for (let round = 0; round < 1200; round += 1) {
      const body = Array.from({ length: seeded.below(4) }, () => seeded.pick(PIECES)).join('');
      const pattern = seeded.pick(['', '', '^', '.*']) + body + seeded.pick(['', '', '$']);
      const expr = { text: { field: 'a', kind: 'regex', pattern } };
      const text = JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json' });
      let warnings;
      try {
        ({ warnings } = compileLaser(text, { strict: true, regex: cachedRegexEngine, seeksMistakes: true }));
      } catch {
        // The engine refuses some of what the pieces make; there is nothing to warn of.
        continue;
      }
      for (const { reason, hint } of warnings) {
        if (reason === 'heavy') continue;
        met.set(reason, (met.get(reason) ?? 0) + 1);
        const same = sameAs(reason, hint, pattern);
        for (let subject = 0; subject < 20; subject += 1) {
          const about = Array.from({ length: seeded.below(5) }, () =>
            seeded.pick(['a', 'b', 'é', '🛰', ' ', '.', '*', '-', '/', '5', '#', '\n']),
          ).join('');
          expect({ pattern, about, found: matches('regex', pattern, about) }).toEqual({
            pattern,
            about,
            found: same(about),
          });
        }
      }
    }
    for (const reason of ['regex_literal', 'regex_leading_any', 'matches_any_text']) {
      expect({ reason, met: met.get(reason) ?? 0 }).toSatisfy((one: { met: number }) => one.met > 20);
    }
  });

  function sameAs(reason: string, hint: string, pattern: string): (about: string) => boolean {
    if (reason === 'matches_any_text') return () => true;
    if (reason === 'regex_leading_any') return (about) => matches('regex', pattern.replace(/^\.\*\??/, ''), about);
    const [, kind, literal] = /kind `([a-z]+)` with `(.*)`/su.exec(hint)!;
    return (about) => matches(kind as TextKind, literal!, about);
  }

  function matches(kind: TextKind, pattern: string, about: string): boolean {
    const utf8 = new TextEncoder().encode(about);
    return compileText(kind, pattern, false, cachedRegexEngine).match(utf8, 0, utf8.length) === TEXT_YES;
  }
});
