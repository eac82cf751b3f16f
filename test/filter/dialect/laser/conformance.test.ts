/** The corpora of validation and digests, whole: a lost case fails by the counts. */
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../../src/core/error-codes.js';
import { readJson } from '../../../../src/core/exact-json.js';
import { compileLaser } from '../../../../src/filter/dialect/laser/compile.js';
import { corpus } from '../../../support/jsonl.js';
import { problemFrom } from '../../../support/refused.js';
import { cachedRegexEngine } from '../../../support/regex-engine.js';

const options = { strict: false, regex: cachedRegexEngine };

interface ValidateCase {
  readonly id: string;
  readonly why: string;
  readonly filter_text: string;
  readonly expect: { readonly valid: boolean; readonly rule: string | null };
}

interface DigestCase {
  readonly id: string;
  readonly why: string;
  readonly filter?: unknown;
  readonly filter_text?: string;
  readonly expect: { readonly digest: string; readonly canonical: string };
}

/** What the detail of a refusal must say for each rule of the corpus, so that a case cannot pass for another reason. */
const DETAILS: Readonly<Record<string, RegExp>> = {
  'json-syntax': /^Invalid JSON\./,
  'member-type': /^Expected .* (as|not) /,
  version: /`v`/,
  'evaluator-version': /`evaluator_version`/,
  'missing-member': /is missing/,
  codec: /`codec`/,
  policy: /`(fault|mismatch|foreign)_policy`/,
  'codec-refs': /`schema_refs`/,
  'refs-range': /schema id/,
  'expr-shape': /node/,
  'empty-group': /at least one child/,
  op: /`op`/,
  depth: /levels/,
  nodes: /nodes/,
  'list-size': /list of `in`/,
  'encoded-bytes': /canonical text/,
  path: /path/,
  'path-segments': /segments/,
  'path-bytes': /path has at most/,
  'header-key': /header key/i,
  'null-op': /null literal|needs a list/,
  'bool-order': /booleans have no order/,
  'prefix-literal': /`prefix` needs a string/,
  'list-op': /list literal/,
  'list-item': /no null|`kind` is `list`/,
  'literal-kind': /`kind` is|a literal as an object/,
  'literal-type': /Expected /,
  'literal-range': /beyond `long`/,
  'string-bytes': /string literal has at most/,
  'coerce-op': /`pred_as` supports/,
  'coerce-literal': /cannot be compared under the coercion|no null|`kind` is `list`/,
  'coerce-kind': /`kind` is|`coerce` as an object/,
  'text-kind': /`kind` is/,
  'pattern-bytes': /pattern has at most/,
  glob: /lone backslash/,
  'compiled-count': /patterns together/,
  'regex-portable': /portable/,
  'regex-syntax': /does not compile/,
  'regex-size': /program of a regex|nest at most/,
  'headers-only': /headers_only/,
};

function expectWellPlaced(problem: Problem, text: string): void {
  expect(problem.position).toBeGreaterThanOrEqual(0);
  expect(problem.position).toBeLessThanOrEqual(Buffer.byteLength(text));
  if (!problem.detail.startsWith('Invalid JSON.')) expect(problem.field).toMatch(/^(\/|$)/);
}

describe('laser-validate', () => {
  const cases = corpus<ValidateCase>('laser-validate');

  it('has all 248 cases', () => {
    expect(cases).toHaveLength(248);
  });

  it.each(cases)('$id: $why', ({ filter_text: text, expect: { valid, rule } }) => {
    if (valid) {
      expect(compileLaser(text, options).digest).toMatch(/^[0-9a-f]{64}$/);
      return;
    }
    const problem = problemFrom(() => compileLaser(text, options));
    expect(problem.detail).toMatch(DETAILS[rule!]!);
    expectWellPlaced(problem, text);
    const root = rule === 'json-syntax' ? undefined : readJson(text).root;
    const versions =
      root?.kind === 'object' ? root.members.filter(({ key }) => /^v$|^evaluator_v/.test(key.value)) : [];
    const isSkew = versions.some(
      ({ value }) => value.kind === 'number' && value.isInteger && text[value.start] !== '1',
    );
    expect(problem.code).toBe(isSkew ? 'version_skew' : 'invalid_request');
  });
});

describe('laser-digest', () => {
  const cases = corpus<DigestCase>('laser-digest');

  it('has all 58 cases', () => {
    expect(cases).toHaveLength(58);
  });

  it.each(cases)('$id: $why', ({ filter, filter_text: text, expect: expected }) => {
    const compiled = compileLaser(text ?? JSON.stringify(filter), options);
    expect(compiled.canonical).toBe(expected.canonical);
    expect(compiled.digest).toBe(expected.digest);
    expect(compiled.lowered.digest).toBe(expected.digest);
    expect(compileLaser(compiled.canonical, { ...options, strict: true }).canonical).toBe(expected.canonical);
  });
});
