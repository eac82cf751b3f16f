/** The oracle beside the contract: logic, mismatches, faults and policies, one rule a test. */
import { describe, expect, test } from 'vitest';
import type { HeaderValue } from '../../src/core/header-value.js';
import { MATCH, NO_MATCH, UNKNOWN } from '../../src/core/truth.js';
import type { Truth } from '../../src/core/truth.js';
import { REASON_NAMES, reasonOf, VERDICT_NAMES, verdictOf } from '../../src/core/verdict.js';
import { decodeJson } from '../../src/codec/json/decode.js';
import { Evaluator, headerNeed } from '../../src/filter/evaluate.js';
import type { EvaluatedRecord } from '../../src/filter/evaluate.js';
import type { LoweredFilter, Predicate } from '../../src/filter/ir.js';
import { givenRecord, oracleOf, regexEngine } from '../support/oracle.js';

const LIMITS = { maxPayloadBytes: 200, maxDepth: 3 };
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const LANE = 'lane';
/** Leaves with a known truth on the record below: by payload (p…) and by header (h…), `m` with a mismatch. */
const LEAVES: Record<string, object> = {
  pYes: { pred: { field: 'a', op: 'eq', value: { kind: 'long', value: 1 } } },
  pNo: { pred: { field: 'a', op: 'eq', value: { kind: 'long', value: 2 } } },
  pUnknown: { pred: { field: 'ghost', op: 'eq', value: { kind: 'long', value: 1 } } },
  pMismatch: { pred: { field: 'a', op: 'eq', value: { kind: 'string', value: 'x' } } },
  hYes: { header: { key: LANE, op: 'eq', value: { kind: 'long', value: 7 } } },
  hNo: { header: { key: LANE, op: 'eq', value: { kind: 'long', value: 8 } } },
  hUnknown: { header: { key: 'ghost', op: 'eq', value: { kind: 'long', value: 7 } } },
  hMismatch: { header: { key: LANE, op: 'eq', value: { kind: 'string', value: 'x' } } },
};
const PAYLOAD = '{"a":1}';
const HEADERS: { key: string; value: HeaderValue }[] = [{ key: LANE, value: { kind: 'uint', value: 7n } }];

interface Setting {
  readonly payload?: string;
  readonly headers?: readonly { key: string; value: HeaderValue }[];
  readonly policies?: Record<string, string>;
}

function verdict(expr: object, { payload = PAYLOAD, headers = HEADERS, policies = {} }: Setting = {}): string {
  const oracle = oracleOf(JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json', ...policies }));
  const outcome = oracle.evaluate(givenRecord(headers, utf8(payload)), LIMITS);
  const reason = reasonOf(outcome) === 0 ? '' : ` ${REASON_NAMES[reasonOf(outcome)]}`;
  return VERDICT_NAMES[verdictOf(outcome)] + reason;
}

function leaf(name: string): object {
  return LEAVES[name]!;
}

describe('logic', () => {
  const truths: Record<string, Truth> = { pYes: MATCH, pNo: NO_MATCH, pUnknown: UNKNOWN };

  test.each(['all', 'any'])('%s is the three-valued table, in every order of three children', (kind) => {
    const [decisive, otherwise]: readonly [Truth, Truth] = kind === 'all' ? [NO_MATCH, MATCH] : [MATCH, NO_MATCH];
    for (const a of Object.keys(truths)) {
      for (const b of Object.keys(truths)) {
        for (const c of Object.keys(truths)) {
          const found = [truths[a]!, truths[b]!, truths[c]!];
          const expected = found.includes(decisive) ? decisive : found.includes(UNKNOWN) ? UNKNOWN : otherwise;
          const group = { [kind]: [leaf(a), leaf(b), leaf(c)] };
          expect(verdict(group)).toBe(expected === MATCH ? 'selected' : 'rejected');
          expect(verdict({ not: group })).toBe(expected === NO_MATCH ? 'selected' : 'rejected');
        }
      }
    }
  });
});

describe('mismatch', () => {
  test('it is reported only where the root ends unknown', () => {
    expect(verdict(leaf('pMismatch'))).toBe('rejected type_mismatch');
    expect(verdict({ not: leaf('pMismatch') })).toBe('rejected type_mismatch');
    expect(verdict({ any: [leaf('pMismatch'), leaf('pYes')] })).toBe('selected');
    expect(verdict({ all: [leaf('pMismatch'), leaf('pNo')] })).toBe('rejected');
    expect(verdict(leaf('pUnknown'))).toBe('rejected');
  });

  test('it sticks when its branch is decided otherwise, unless a decisive child came before it', () => {
    const before = { all: [leaf('pMismatch'), leaf('pNo')] };
    const after = { all: [leaf('pNo'), leaf('pMismatch')] };
    expect(verdict({ any: [before, leaf('pUnknown')] })).toBe('rejected type_mismatch');
    expect(verdict({ any: [after, leaf('pUnknown')] })).toBe('rejected');
  });

  test('its policy decides between a plain rejection with a reason and a record that cannot be judged', () => {
    expect(verdict(leaf('hMismatch'), { policies: { mismatch_policy: 'pass' } })).toBe('fault type_mismatch');
    expect(verdict(leaf('hMismatch'), { policies: { foreign_policy: 'pass' } })).toBe('rejected type_mismatch');
  });
});

describe('header first', () => {
  const broken: Setting = { payload: '{{{' };

  test('a header decides before a broken payload is touched, wherever it is written', () => {
    expect(verdict({ any: [leaf('pYes'), leaf('hYes')] }, broken)).toBe('selected');
    expect(verdict({ all: [leaf('pYes'), leaf('hNo')] }, broken)).toBe('rejected');
    expect(verdict({ all: [leaf('pYes'), leaf('hYes')] }, broken)).toBe('fault malformed');
    expect(verdict({ any: [leaf('hUnknown'), leaf('pYes')] }, broken)).toBe('fault malformed');
  });

  test('a group that reads both is a payload child, and goes header-first itself', () => {
    const mixed = { all: [leaf('pYes'), leaf('hNo')] };
    expect(verdict({ any: [mixed, leaf('hYes')] }, broken)).toBe('selected');
    expect(verdict({ any: [mixed, leaf('hNo')] }, broken)).toBe('rejected');
    expect(verdict({ any: [leaf('pYes'), mixed] }, broken)).toBe('fault malformed');
  });

  test('payload children keep their order, so a mismatch is seen or not as written', () => {
    const unknown = leaf('hUnknown');
    expect(verdict({ any: [{ all: [leaf('pNo'), leaf('pMismatch')] }, unknown] })).toBe('rejected');
    expect(verdict({ any: [{ all: [leaf('pMismatch'), leaf('pNo')] }, unknown] })).toBe('rejected type_mismatch');
    expect(verdict({ any: [{ all: [leaf('pMismatch'), leaf('hNo')] }, unknown] })).toBe('rejected');
  });

  test('a header mismatch is hidden by a header that decides before it', () => {
    expect(verdict({ any: [{ all: [leaf('hNo'), leaf('hMismatch')] }, leaf('pUnknown')] })).toBe('rejected');
    expect(verdict({ any: [{ all: [leaf('hMismatch'), leaf('hNo')] }, leaf('pUnknown')] })).toBe(
      'rejected type_mismatch',
    );
  });
});

describe('records that cannot be judged', () => {
  const foreign = { key: 'agdx.ct', value: { kind: 'uint', value: 3n } } as const;
  const deep = '[[[[1]]]]';
  const large = `"${'x'.repeat(200)}"`;

  test.each([
    ['foreign before size', [foreign], large, 'rejected foreign_codec'],
    ['size before depth', [], '['.repeat(201), 'fault too_large'],
    ['depth before syntax', [], `${deep}}`, 'fault too_deep'],
    ['syntax', [], '[[[', 'fault malformed'],
    ['a payload that is fine', [], PAYLOAD, 'selected'],
  ] as const)('%s', (_, headers, payload, expected) => {
    expect(verdict(leaf('pYes'), { headers, payload })).toBe(expected);
  });

  test('foreign_policy moves a foreign record, fault_policy moves nothing here', () => {
    for (const fault_policy of ['stop', 'pass', 'drop']) {
      expect(verdict(leaf('pYes'), { payload: deep, policies: { fault_policy } })).toBe('fault too_deep');
      const policies = { fault_policy, foreign_policy: 'pass' };
      expect(verdict(leaf('pYes'), { headers: [foreign], policies })).toBe('fault foreign_codec');
    }
  });

  test.each([
    ['int', 3n, true],
    ['int', -1n, false],
    ['uint', 0n, true],
    ['uint', 1n, false],
    ['uint', 8n, true],
    ['uint', 9n, false],
    ['uint', 255n, false],
    ['uint', 2n ** 64n - 1n, false],
    ['uint', 2n ** 53n + 3n, false],
  ] as const)('a content type of %s %s is foreign to a json filter: %s', (kind, value, isForeign) => {
    const headers = [{ key: 'agdx.ct', value: { kind, value } }];
    expect(verdict(leaf('pYes'), { headers })).toBe(isForeign ? 'rejected foreign_codec' : 'selected');
  });

  test('a regex over its bound faults the record, unless a sibling decides first', () => {
    const long = { payload: JSON.stringify({ a: 1, s: 'y'.repeat(65_537) }) };
    const limits = { maxPayloadBytes: 100_000, maxDepth: 3 };
    const search = { text: { field: 's', kind: 'regex', pattern: 'x' } };
    const judge = (expr: object): string => {
      const oracle = oracleOf(JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json' }));
      const outcome = oracle.evaluate(givenRecord([], utf8(long.payload)), limits);
      return `${VERDICT_NAMES[verdictOf(outcome)]} ${REASON_NAMES[reasonOf(outcome)]}`;
    };
    expect(judge(search)).toBe('fault too_large');
    expect(judge({ not: search })).toBe('fault too_large');
    expect(judge({ any: [leaf('pYes'), search] })).toBe('selected none');
    expect(judge({ any: [search, leaf('pYes')] })).toBe('fault too_large');
  });
});

function lowered(root: Predicate, codec: LoweredFilter['codec'] = 'json'): LoweredFilter {
  return {
    dialect: 'laser',
    digest: '',
    codec,
    faultPolicy: 'stop',
    foreignPolicy: 'reject',
    mismatchPolicy: 'reject',
    schemaRefs: [],
    root,
  };
}

describe('what is decoded', () => {
  const payloadLeaf: Predicate = { node: 'presence', source: { from: 'payload', path: ['a'] }, wanted: true };
  const headerLeaf: Predicate = { node: 'presence', source: { from: 'header', key: 'k' }, wanted: true };

  test('headers are decoded as far as the filter needs them', () => {
    expect(headerNeed(lowered(payloadLeaf))).toBe('content_type');
    expect(headerNeed(lowered(headerLeaf))).toBe('all');
    expect(headerNeed(lowered({ node: 'any', children: [payloadLeaf, { node: 'not', child: headerLeaf }] }))).toBe(
      'all',
    );
    expect(headerNeed({ ...lowered(payloadLeaf), schemaRefs: [1] })).toBe('all');
  });

  test('a malformed header block faults even where the payload alone is read, and before anything else', () => {
    for (const root of [payloadLeaf, headerLeaf]) {
      const record: EvaluatedRecord = { headers: () => undefined, payload: utf8('{{{') };
      const outcome = new Evaluator(lowered(root), decodeJson, regexEngine).evaluate(record, LIMITS);
      expect(REASON_NAMES[reasonOf(outcome)]).toBe('malformed');
    }
  });

  test('the payload is decoded at most once, and never behind a header that decides', () => {
    let calls = 0;
    const decode: typeof decodeJson = (payload, limits) => {
      calls++;
      return decodeJson(payload, limits);
    };
    const record = givenRecord([{ key: 'k', value: { kind: 'bool', value: true } }], utf8(PAYLOAD));
    const both: Predicate = { node: 'all', children: [payloadLeaf, payloadLeaf, payloadLeaf] };
    new Evaluator(lowered(both), decode, regexEngine).evaluate(record, LIMITS);
    expect(calls).toBe(1);
    new Evaluator(lowered({ node: 'any', children: [both, headerLeaf] }), decode, regexEngine).evaluate(record, LIMITS);
    expect(calls).toBe(1);
  });
});
