/**
 * What the README claims and a machine can check: limits, codes, metrics, commands, and that its examples are valid.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COST_FILTERS } from '../bench/datasets/cost-filters.js';
import { METRICS } from '../src/metrics/table.js';
import { ERROR_CATALOGUE } from '../src/core/error-codes.js';
import * as limits from '../src/core/limits.js';
import { compileLaser } from '../src/filter/dialect/laser/compile.js';
import { plainJson } from '../src/core/plain-json.js';
import { readJson } from '../src/core/exact-json.js';
import { WARNING_REASONS } from '../src/filter/warning-reasons.js';
import { checked } from '../src/wire/check.js';
import { ScanRequestSchema } from '../src/wire/scan-request.js';
import { cachedRegexEngine } from './support/regex-engine.js';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** The number in the row of a table that starts with `first`. */
function figures(first: string): number[] {
  const row = README.split('\n').find((line) => line.startsWith(`| ${first}`));
  if (row === undefined) throw new Error(`the README has no row ${first}`);
  return [...row.matchAll(/(\d[\d,]*)( MiB| TiB)?/g)].map(([, number, unit]) => {
    const factor = unit === ' MiB' ? 1024 ** 2 : unit === ' TiB' ? 1024 ** 4 : 1;
    return Number(number!.replaceAll(',', '')) * factor;
  });
}

describe('the README', () => {
  it('gives the budgets their defaults and caps', () => {
    expect(figures('`count`')).toEqual([limits.COUNT_DEFAULT, limits.COUNT_MAX]);
    expect(figures('`max_reply_bytes`')).toEqual([limits.MAX_REPLY_BYTES_DEFAULT, limits.MAX_REPLY_BYTES_MAX]);
    expect(figures('`max_examined`')).toEqual([limits.MAX_EXAMINED_DEFAULT, limits.MAX_EXAMINED_CAP]);
    expect(figures('`max_examined_bytes`')).toEqual([limits.MAX_EXAMINED_BYTES_DEFAULT, limits.MAX_EXAMINED_BYTES_CAP]);
    expect(figures('`deadline_ms`')).toEqual([limits.DEADLINE_MS_DEFAULT, limits.DEADLINE_MS_MAX]);
    expect(figures('`pages`')).toEqual([limits.PAGES_DEFAULT, limits.PAGES_MAX]);
    expect(figures('`progress_ms`')).toEqual([limits.PROGRESS_MS_DEFAULT, limits.PROGRESS_MS_CAP]);
  });

  it('gives scans of many filters their limits', () => {
    const section = README.split('### Many filters in one scan')[1]!.split('\n## ')[0]!;
    expect(section).toContain(`up to ${limits.FILTERS_PER_SCAN_MAX.toLocaleString('en')} filters`);
    expect(section).toContain(`At most ${limits.PATTERNS_PER_SCAN_MAX} different`);
    expect(section).toContain(`${limits.FILTER_TEXTS_BYTES_MAX / 1024 ** 2} MiB of filter text`);
  });

  it('gives previews their limits', () => {
    const line = README.split('\n').find((text) => text.startsWith('A preview examines at most'))!;
    expect([...line.matchAll(/\d[\d,]*/g)].map(([number]) => Number(number.replaceAll(',', '')))).toEqual([
      limits.PREVIEW_EXAMINED_MAX,
      limits.PREVIEW_EXAMINED_DEFAULT,
      limits.PREVIEW_RECORDS_MAX,
      limits.PREVIEW_RECORDS_DEFAULT,
      limits.PREVIEW_TEXT_BYTES,
    ]);
  });

  it('gives filters their limits', () => {
    expect(figures('canonical text')).toEqual([limits.FILTER_CANONICAL_BYTES_MAX]);
    expect(figures('nodes')).toEqual([limits.FILTER_NODES_MAX]);
    expect(figures('nesting')).toEqual([limits.FILTER_DEPTH_MAX]);
    expect(figures('path')).toEqual([limits.PATH_SEGMENTS_MAX, limits.PATH_BYTES_MAX]);
    expect(figures('header key')).toEqual([limits.FILTER_HEADER_KEY_BYTES_MAX]);
    expect(figures('`in` items')).toEqual([limits.IN_ITEMS_MAX]);
    expect(figures('text literal')).toEqual([limits.PATTERN_BYTES_MAX]);
    expect(figures('compiled patterns')).toEqual([limits.COMPILED_PATTERNS_MAX]);
    expect(figures('text under a `regex`')).toEqual([limits.REGEX_SUBJECT_BYTES_MAX]);
    expect(figures('payload of a record')).toEqual([limits.PAYLOAD_BYTES_MAX, limits.DEPTH_MAX]);
  });

  it('gives every code its status', () => {
    const rows = README.split('### Errors')[1]!
      .split('\n')
      .filter((line) => /^\| `[a-z_]+`.* \| \d{3} \|/.test(line));
    expect(rows).toHaveLength(11);
    for (const row of rows) {
      const [codes, status] = row.split('|').slice(1, 3) as [string, string];
      for (const [, code] of codes.matchAll(/`([a-z_]+)`/g)) {
        expect({ code, status: ERROR_CATALOGUE[code as keyof typeof ERROR_CATALOGUE]?.status }).toEqual({
          code,
          status: Number(status),
        });
      }
    }
  });

  it('names only metrics that exist', () => {
    const line = README.split('\n').find((text) => text.startsWith('- **Metrics**'))!;
    const names = [...line.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name!).filter((name) => name !== 'winnow_');
    expect(names.length).toBeGreaterThan(8);
    expect(names.filter((name) => !(name in METRICS))).toEqual([]);
  });

  it('shows a filter of each cost class with its score, and how many filters the benchmark ranks', () => {
    const section = README.split('### What a filter costs')[1]!.split('\n#')[0]!;
    const rows = [...section.matchAll(/^\| `([a-z]+)` \| .* \| `(\{.*\})` \| (\d+) \|$/gm)];
    expect(rows.map(([, costClass]) => costClass)).toEqual(['headers', 'indexed', 'decode', 'heavy']);
    for (const [, costClass, expr, score] of rows) {
      const text = `{"v":1,"evaluator_version":1,"codec":"json","expr":${expr}}`;
      const { cost } = compileLaser(text, { strict: true, regex: cachedRegexEngine }).summary;
      expect(cost).toMatchObject({ class: costClass, score: Number(score) });
    }
    expect(Number(/measures (\d+) filters/.exec(section)![1])).toBe(COST_FILTERS.length);
  });

  it('lists every reason for a warning, and no other', () => {
    const section = README.split('### What validation warns of')[1]!.split('\n#')[0]!;
    const rows = section.split('\n').filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name!));
    expect(named.sort()).toEqual(Object.keys(WARNING_REASONS).sort());
  });

  it('shows a request that the schema accepts and filters that compile', () => {
    const body = /-d '(\{[\s\S]*?\n\})'/.exec(README)![1]!;
    // The shell puts the segment's base64 in; any will do here.
    const document = readJson(body.replace(/'\$\(.*?\)'/, 'e30K'));
    const filters: string[] = [];
    const plain = plainJson(document, document.root, (pointer, node) => {
      if (pointer !== '/filters/0/filter') return undefined;
      filters.push(document.sourceOf(node));
      return document.sourceOf(node);
    });
    checked(ScanRequestSchema, plain);
    const nodes = [...README.matchAll(/`(\{"(?:pred|pred_as|present|absent|header|text)": .*?\})`/g)].map(
      ([, node]) => node!,
    );
    expect(nodes.length).toBeGreaterThanOrEqual(6);
    for (const node of nodes) filters.push(`{"v":1,"evaluator_version":1,"codec":"json","expr":${node}}`);
    for (const text of filters) {
      const { digest, warnings } = compileLaser(text, { strict: true, regex: cachedRegexEngine, seeksMistakes: true });
      expect(digest).toMatch(/^[0-9a-f]{64}$/);
      // The codec of the lone nodes is the test's, and a glob that ignores case is shown on purpose.
      const reasons = warnings.map(({ reason }) => reason);
      expect(reasons.filter((reason) => reason !== 'headers_only_possible' && reason !== 'heavy')).toEqual([]);
    }
  });
});
