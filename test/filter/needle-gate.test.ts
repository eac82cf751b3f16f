/**
 * The needle gate over the kernel: it loses no match and hides no fault, and what every rule of it keeps from being
 * called barren, one by one.
 */
import { describe, expect, it } from 'vitest';
import { REGEX_SUBJECT_BYTES_MAX } from '../../src/core/limits.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { GatedProgram, type GatedRecord, runGateDifferential } from '../support/gate-differential.js';
import { newKernel } from '../support/kernel.js';
import { DEFAULT_LIMITS, shown } from '../support/program.js';
import { cachedRegexEngine } from '../support/regex-engine.js';

const SEED = Number(process.env['WINNOW_SEED'] ?? 53);

const utf8 = new TextEncoder();
const kernel = newKernel();
const EMPTY: GatedRecord = { payload: utf8.encode('{"z":1}'), headerBlock: new Uint8Array(0) };
const WARM = Array.from({ length: 64 }, () => EMPTY);

const text = (value: string) => ({ kind: 'string', value });
const eq = (field: string, value: string) => ({ pred: { field, op: 'eq', value: text(value) } });

function lowered(expr: unknown, more: Record<string, unknown> = {}) {
  const document = { v: 1, evaluator_version: 1, expr, codec: 'json', ...more };
  return compileLaser(JSON.stringify(document), { strict: false, regex: cachedRegexEngine }).lowered;
}

function record(payload: string | Uint8Array, headerBlock: Uint8Array = new Uint8Array(0)): GatedRecord {
  return { payload: typeof payload === 'string' ? utf8.encode(payload) : payload, headerBlock };
}

/** What a filter whose gate is on says of a record, and whether that took finding values. */
function judge(filter: ReturnType<typeof lowered>, one: GatedRecord): { verdict: string; isBarren: boolean } {
  const gated = new GatedProgram([filter], kernel, true, DEFAULT_LIMITS);
  gated.pass(WARM, () => gated.program.evaluate(0));
  const before = gated.barren;
  let verdict = '';
  gated.pass([one], () => {
    const { verdict: name, reason } = shown(gated.program.evaluate(0));
    verdict = reason === null ? name : `${name} ${reason}`;
  });
  return { verdict, isBarren: gated.barren > before };
}

describe('the gate on random filters and records', () => {
  it('loses no match and hides no fault', () => {
    const { records, barren, selected, faults } = runGateDifferential(SEED, 60);
    expect(records).toBeGreaterThan(15_000);
    expect(barren).toBeGreaterThan(700);
    expect(selected).toBeGreaterThan(300);
    expect(faults).toBeGreaterThan(300);
  });
});

describe('a payload without the text that a filter needs', () => {
  const filter = lowered(eq('a', 'safe'));

  it.each(['{"a":"nominal"}', '{"a":"safer"}', '{"a":"un safe"}', '{"a":"say \\"safe!"}', '{}', '[]', '{"b":1.5e3}'])(
    '%s is rejected without finding values',
    (payload) => expect(judge(filter, record(payload))).toEqual({ verdict: 'rejected', isBarren: true }),
  );

  it.each([
    ['{"a":"safe"}', 'selected'],
    ['{ "a" : "safe" }', 'selected'],
    ['{"a":"\\u0073afe"}', 'selected'],
    ['{"a":"s\\u0061f\\u0065"}', 'selected'],
    ['{"\\u0061":"safe"}', 'selected'],
    ['{"a":"x","a":"safe"}', 'selected'],
    ['{"safe":1,"a":"x"}', 'rejected'],
    ['{"a":"\\u0073af"}', 'rejected'],
    ['{"a":"safe","a":"x"}', 'rejected'],
  ])('is none where it stands or may be hidden by an escape: %s', (payload, verdict) => {
    expect(judge(filter, record(payload))).toEqual({ verdict, isBarren: false });
  });

  it.each([
    ['cut off', '{"a":"nominal"', 'fault malformed'],
    ['not JSON', '{"a":nominal}', 'fault malformed'],
    ['not UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), 'fault malformed'],
    ['empty', '', 'fault malformed'],
    ['nested too deep', `${'['.repeat(65)}${']'.repeat(65)}`, 'fault too_deep'],
    ['too large', `{"a":"${'x'.repeat(DEFAULT_LIMITS.maxPayloadBytes)}"}`.slice(0, 1 << 20), 'fault malformed'],
  ])('stays a fault where it is %s', (_, payload, verdict) => {
    expect(judge(filter, record(payload))).toEqual({ verdict, isBarren: false });
  });

  it('stays foreign where its content type says so, and a fault where its header block is malformed', () => {
    const foreign = encodeHeaders([{ key: 'agdx.ct', value: { kind: 'u8', value: 6 } }]);
    const passing = lowered(eq('a', 'safe'), { foreign_policy: 'pass' });
    expect(judge(filter, record('{}', foreign)).verdict).toBe('rejected foreign_codec');
    expect(judge(passing, record('{}', foreign)).verdict).toBe('fault foreign_codec');
    expect(judge(filter, record('{}', Uint8Array.of(2, 0, 0, 0, 0))).verdict).toBe('fault malformed');
  });

  it('is still looked into where a mismatch could deliver it', () => {
    const lenient = lowered(eq('a', 'safe'), { mismatch_policy: 'pass' });
    expect(judge(lenient, record('{"a":1}'))).toEqual({ verdict: 'fault type_mismatch', isBarren: false });
  });

  it('is still looked into where a regex may find its text too long', () => {
    const bounded = lowered({ all: [{ text: { field: 's', kind: 'regex', pattern: 'x' } }, eq('a', 'safe')] });
    const long = 'x'.repeat(REGEX_SUBJECT_BYTES_MAX + 1);
    expect(judge(bounded, record(`{"s":"${long}"}`))).toEqual({ verdict: 'fault too_large', isBarren: false });
    expect(judge(bounded, record('{"s":"x"}'))).toEqual({ verdict: 'rejected', isBarren: true });
  });
});

describe('the gate of several filters', () => {
  it('opens for the text of any of them', () => {
    const gated = new GatedProgram([lowered(eq('a', 'one')), lowered(eq('b', 'two'))], kernel, true, DEFAULT_LIMITS);
    gated.pass(WARM, () => gated.program.select());
    const seen: number[][] = [];
    const payloads = ['{"a":"one"}', '{"b":"two"}', '{"a":"two","b":"one"}', '{"a":"none"}'];
    const before = gated.barren;
    gated.pass(
      payloads.map((one) => record(one)),
      () => {
        const count = gated.program.select();
        seen.push([...gated.program.candidates.subarray(0, count)]);
      },
    );
    expect(seen).toEqual([[0], [1], [], []]);
    expect(gated.barren - before).toBe(1);
  });

  it('is never on where one of them can match without a text', () => {
    const free = lowered({ present: 'z' });
    const gated = new GatedProgram([lowered(eq('a', 'one')), free], kernel, true, DEFAULT_LIMITS);
    let selected = 0;
    gated.pass([...WARM, ...WARM], () => {
      if (shown(gated.program.evaluate(1)).verdict === 'selected') selected += 1;
    });
    expect([selected, gated.barren]).toEqual([128, 0]);
  });
});

describe('the choice of the text', () => {
  const common = record('{"t":"common","a":"x"}');

  it('is the rarest of those that a filter needs', () => {
    const filter = lowered({ all: [eq('t', 'common'), eq('a', 'rare')] });
    const gated = new GatedProgram([filter], kernel, true, DEFAULT_LIMITS);
    gated.pass(
      Array.from({ length: 200 }, () => common),
      () => gated.program.evaluate(0),
    );
    expect(gated.barren).toBeGreaterThan(100);
  });

  it('is none where most payloads hold it, and is given up where they come to', () => {
    const gated = new GatedProgram([lowered(eq('t', 'common'))], kernel, true, DEFAULT_LIMITS);
    gated.pass(
      Array.from({ length: 200 }, () => common),
      () => gated.program.evaluate(0),
    );
    expect(gated.barren).toBe(0);
    const hopeful = new GatedProgram([lowered(eq('t', 'common'))], kernel, true, DEFAULT_LIMITS);
    hopeful.pass(WARM, () => hopeful.program.evaluate(0));
    for (let turn = 0; turn < 3; turn++) {
      hopeful.pass(
        Array.from({ length: 200 }, () => common),
        () => hopeful.program.evaluate(0),
      );
    }
    hopeful.pass(WARM, () => hopeful.program.evaluate(0));
    expect(hopeful.barren).toBeLessThan(64);
  });

  it('is looked at again, since records change', () => {
    const gated = new GatedProgram([lowered(eq('t', 'common'))], kernel, true, DEFAULT_LIMITS);
    gated.pass(
      Array.from({ length: 200 }, () => common),
      () => gated.program.evaluate(0),
    );
    for (let turn = 0; turn < 300; turn++) gated.pass(WARM, () => gated.program.evaluate(0));
    expect(gated.barren).toBeGreaterThan(1_000);
  });
});

describe('a program beside another on the same kernel', () => {
  it('is not held back by the gate of the other', () => {
    const gated = new GatedProgram([lowered(eq('a', 'rare'))], kernel, true, DEFAULT_LIMITS);
    const plain = new GatedProgram([lowered({ present: 'z' })], kernel, true, DEFAULT_LIMITS);
    let selected = 0;
    for (let turn = 0; turn < 5; turn++) {
      gated.pass(WARM, () => gated.program.evaluate(0));
      plain.pass(WARM, () => {
        if (shown(plain.program.evaluate(0)).verdict === 'selected') selected += 1;
      });
    }
    expect(selected).toBe(5 * WARM.length);
    expect(gated.barren).toBeGreaterThan(100);
  });
});
