/** Damaged filter texts: compiling ends, with a filter or a refusal whose place lies in the text, never otherwise. */
import { describe, expect, it } from 'vitest';
import { readJsonBytes } from '../../../../src/core/exact-json.js';
import { compileLaser } from '../../../../src/filter/dialect/laser/compile.js';
import { randomFilter } from '../../../support/random-filter.js';
import { problemFrom } from '../../../support/refused.js';
import { cachedRegexEngine } from '../../../support/regex-engine.js';
import { Seeded } from '../../../support/seeded.js';
import { untidied } from '../../../support/untidied-filter.js';

/** Compiles, and checks what is promised of a refusal. True when the text was accepted. */
function survives(text: string, strict: boolean): boolean {
  const startedAt = performance.now();
  let accepted = true;
  try {
    const compiled = compileLaser(text, { strict, regex: cachedRegexEngine });
    expect(compileLaser(compiled.canonical, { strict: true, regex: cachedRegexEngine }).digest).toBe(compiled.digest);
  } catch (thrown) {
    accepted = false;
    const problem = problemFrom(() => {
      throw thrown;
    });
    expect(['invalid_request', 'version_skew']).toContain(problem.code);
    expect(Number.isInteger(problem.position)).toBe(true);
    expect(problem.position).toBeGreaterThanOrEqual(0);
    expect(problem.position).toBeLessThanOrEqual(Buffer.byteLength(text));
    // A problem goes out as JSON: every number in it must be one.
    expect(JSON.parse(JSON.stringify(problem))).toEqual(problem);
    expect(problem.detail.length).toBeLessThan(4_000);
  }
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  return accepted;
}

function document(expr: string): string {
  return `{"v":1,"evaluator_version":1,"expr":${expr},"codec":"json"}`;
}

describe('damaged filters', () => {
  it('by bytes: flipped, cut, doubled, spliced', () => {
    const seeded = new Seeded(21);
    let accepted = 0;
    let decoded = 0;
    for (let round = 0; round < 6_000; round += 1) {
      let bytes = Buffer.from(untidied(randomFilter(seeded, { depthMax: 3 }), seeded));
      for (let edits = 1 + seeded.below(3); edits > 0; edits -= 1) {
        const at = seeded.below(bytes.length);
        const to = Math.min(bytes.length, at + seeded.below(12));
        switch (seeded.below(4)) {
          case 0:
            bytes[at] = seeded.below(256);
            break;
          case 1:
            bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
            break;
          case 2:
            bytes = Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
            break;
          default:
            bytes = Buffer.concat([
              bytes.subarray(0, at),
              Buffer.from(seeded.pick(['\\', '"', '{', ',', '1', '(?', '[', '\0', 'é'])),
              bytes.subarray(at),
            ]);
        }
      }
      let text: string;
      try {
        text = readJsonBytes(bytes).text;
      } catch (thrown) {
        const problem = problemFrom(() => {
          throw thrown;
        });
        expect(problem.position).toBeLessThanOrEqual(bytes.length);
        text = bytes.toString('utf8');
      }
      decoded += 1;
      if (survives(text, seeded.chance(0.3))) accepted += 1;
    }
    expect(accepted).toBeGreaterThan(decoded / 50);
    expect(accepted).toBeLessThan(decoded / 2);
  });

  it('by structure: a value anywhere replaced by one of another kind', () => {
    const seeded = new Seeded(22);
    const values = [
      'null',
      'true',
      '0',
      '-1',
      '1.5',
      '1e999',
      '""',
      '"eq"',
      '"\\ud800"',
      '[]',
      '{}',
      '[[]]',
      '{"kind":"list","value":[]}',
      '{"all":[]}',
      '9'.repeat(300),
      '-0',
      '2147483648',
    ];
    let refused = 0;
    for (let round = 0; round < 6_000; round += 1) {
      const text = randomFilter(seeded, { depthMax: 3 });
      const places = [...text.matchAll(/(?<=[:[,])(?:"(?:[^"\\]|\\.)*"|-?[0-9][0-9.e+-]*|true|false)(?=[,}\]])/g)];
      const place = seeded.pick(places);
      const damaged = text.slice(0, place.index) + seeded.pick(values) + text.slice(place.index + place[0].length);
      if (!survives(damaged, true)) refused += 1;
    }
    expect(refused).toBeGreaterThan(4_000);
  });

  it('of hostile size end quickly', () => {
    const hostile = [
      document(`{"all":[${'{"present":"a"},'.repeat(50_000)}{"present":"a"}]}`),
      document(`${'{"not":'.repeat(200)}{"present":"a"}${'}'.repeat(200)}`),
      document(`${'{"not":'.repeat(100_000)}`),
      document(`{"present":"${'a.'.repeat(1_000_000)}"}`),
      document(`{"text":{"field":"a","kind":"regex","pattern":"${'('.repeat(1_000)}"}}`),
      document(`{"text":{"field":"a","kind":"regex","pattern":"a${'{9}'.repeat(300)}"}}`),
      document(`{"text":{"field":"a","kind":"regex","pattern":"a${'*'.repeat(1_000)}"}}`),
      document(`{"text":{"field":"a","kind":"regex","pattern":"[${'[^'.repeat(60)}"}}`),
      document(
        `{"pred":{"field":"a","op":"in","value":{"kind":"list","value":[${'{"kind":"null"},'.repeat(50_000)}1]}}}`,
      ),
      `{${'"m":0,'.repeat(100_000)}"v":1}`,
      `{${Array.from({ length: 50_000 }, (_, index) => `"m${index}":0`).join(',')}}`,
    ];
    for (const text of hostile) expect(survives(text, false)).toBe(false);
  });
});
