/** Explanations: a label and a truth for every node, and where there is none. */
import { expect, test } from 'vitest';
import { DEPTH_MAX, PAYLOAD_BYTES_MAX } from '../../src/core/limits.js';
import { TRUTH_NAMES } from '../../src/core/truth.js';
import { REASON_NAMES, reasonOf, VERDICT_NAMES, verdictOf } from '../../src/core/verdict.js';
import { explain } from '../../src/filter/explain.js';
import type { ExplainedNode } from '../../src/filter/explain.js';
import { recordCases } from '../support/cases.js';
import type { TruthTree } from '../support/cases.js';
import { givenRecord, oracleOf, storedRecord } from '../support/oracle.js';

const LIMITS = { maxPayloadBytes: PAYLOAD_BYTES_MAX, maxDepth: DEPTH_MAX };

function truthTree({ truth, children }: ExplainedNode): TruthTree {
  const shown = truth === undefined ? null : TRUTH_NAMES[truth];
  return children === undefined ? { truth: shown } : { truth: shown, children: children.map(truthTree) };
}

function labels({ label, children }: ExplainedNode): unknown {
  return children === undefined ? label : { [label]: children.map(labels) };
}

const cases = recordCases('laser-explain');

test('runs 27 cases', () => {
  expect(cases).toHaveLength(27);
});

test.each(cases)(
  '$id: $why',
  ({ filterText, schemas, headers, headerBlock, payload, limits, verdict, reason, root }) => {
    const oracle = oracleOf(filterText, schemas);
    for (const record of [givenRecord(headers, payload), storedRecord(headerBlock, payload)]) {
      const explanation = explain(oracle, record, limits);
      expect(VERDICT_NAMES[verdictOf(explanation.outcome)]).toBe(verdict);
      expect(REASON_NAMES[reasonOf(explanation.outcome)]).toBe(reason ?? 'none');
      expect(truthTree(explanation.root)).toEqual(root);
    }
  },
);

function filterOf(expr: unknown, codec = 'json'): string {
  return JSON.stringify({ v: 1, evaluator_version: 1, expr, codec });
}

function string(value: string): unknown {
  return { kind: 'string', value };
}

function pred(field: string, op: string, value: unknown): unknown {
  return { field, op, value };
}

test('labels say what each node asks', () => {
  const number = { kind: 'number' };
  const expr = {
    any: [
      {
        all: [
          { pred: pred('after.mode', 'eq', string('safe')) },
          { pred_as: { pred: pred('amount', 'gte', string('12.5')), coerce: number } },
          { header: { key: 'priority', op: 'gte', value: { kind: 'int', value: 2 } } },
          { present: 'fields.mode' },
          { absent: 'list[0].a\\.b' },
          { text: { field: 'name', kind: 'glob', pattern: 'a*', case_insensitive: true } },
          { header_text: { field: 'event', kind: 'regex', pattern: '^a"b' } },
        ],
      },
      { not: { pred: pred('x', 'eq', { kind: 'null' }) } },
      { pred: pred('x', 'in', { kind: 'list', value: [string('a'), { kind: 'double', value: 1 }] }) },
      { pred: pred('x', 'ne', { kind: 'double', value: -0.5 }) },
      {
        pred_as: {
          pred: pred('at', 'lt', string('2031-01-01T00:00:00Z')),
          coerce: { kind: 'timestamp', format: 'rfc3339' },
        },
      },
    ],
  };
  const { root } = explain(oracleOf(filterOf(expr)), givenRecord([], new Uint8Array()), LIMITS);
  expect(labels(root)).toEqual({
    any: [
      {
        all: [
          'after.mode eq "safe"',
          'number(amount) gte 12.5',
          'header priority gte 2',
          'fields.mode is present',
          'list[0].a\\.b is absent',
          'name glob "a*" ignoring case',
          'header event regex "^a\\"b"',
        ],
      },
      { not: ['x eq null'] },
      'x in ["a", 1.0]',
      'x ne -0.5',
      'rfc3339(at) lt 2031-01-01T00:00:00Z',
    ],
  });
});

test('a text over the regex bound leaves its leaf and parents without a truth, and only them', () => {
  const long = { text: { field: 'a', kind: 'regex', pattern: 'x' } };
  const expr = { any: [{ present: 'a' }, { all: [long, { present: 'b' }] }] };
  const payload = new TextEncoder().encode(JSON.stringify({ a: 'y'.repeat(65_537) }));
  const explanation = explain(oracleOf(filterOf(expr)), givenRecord([], payload), LIMITS);
  expect(VERDICT_NAMES[verdictOf(explanation.outcome)]).toBe('selected');
  expect(truthTree(explanation.root)).toEqual({
    truth: null,
    children: [{ truth: 'match' }, { truth: null, children: [{ truth: null }, { truth: 'no_match' }] }],
  });
});

test('a header block that does not parse leaves no node with a truth', () => {
  const expr = { any: [{ present: 'a' }, { header: { key: 'k', op: 'eq', value: { kind: 'int', value: 1 } } }] };
  const record = storedRecord(Uint8Array.of(2, 0), new TextEncoder().encode('{"a":1}'));
  const explanation = explain(oracleOf(filterOf(expr)), record, LIMITS);
  expect(REASON_NAMES[reasonOf(explanation.outcome)]).toBe('malformed');
  expect(truthTree(explanation.root)).toEqual({ truth: null, children: [{ truth: null }, { truth: null }] });
});
