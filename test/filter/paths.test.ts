/** Path texts: what each names, what is refused and where, and that there is one text per path. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PATH_BYTES_MAX, PATH_SEGMENTS_MAX } from '../../src/core/limits.js';
import { parsePath, pathText } from '../../src/filter/paths.js';
import { problemFrom } from '../support/refused.js';
import { Seeded } from '../support/seeded.js';

describe('a path text', () => {
  it.each([
    ['a', ['a']],
    ['after.mode', ['after', 'mode']],
    ['after.ground_stations[0]', ['after', 'ground_stations', 0]],
    ['[0].id', [0, 'id']],
    ['[0][12]', [0, 12]],
    ['codes.200', ['codes', '200']],
    ['0', ['0']],
    ['a[4294967295]', ['a', 4294967295]],
    [' a . b ', [' a ', ' b ']],
    ['rev\\.2\\[x\\]\\\\y', ['rev.2[x]\\y']],
    ['\\[0\\]', ['[0]']],
    ['a"b\'c{}*$', ['a"b\'c{}*$']],
    ['écluse.🚢', ['écluse', '🚢']],
    ['__proto__', ['__proto__']],
  ])('%j names %j', (text, path) => {
    expect(parsePath(text)).toEqual(path);
    expect(pathText(path)).toBe(text);
  });

  it.each([
    ['', 0, /empty/],
    ['.a', 0, /key .* empty/],
    ['a.', 2, /key .* empty/],
    ['a..b', 2, /key .* empty/],
    ['rows.[2]', 5, /key .* empty/],
    ['gate]', 4, /`\]`/],
    ['é]', 2, /`\]`/],
    ['rows[', 4, /closed/],
    ['rows[2', 4, /closed/],
    ['rows[]', 5, /index/],
    ['rows[07]', 5, /index/],
    ['rows[00]', 5, /index/],
    ['rows[+1]', 5, /index/],
    ['rows[-1]', 5, /index/],
    ['rows[1.0]', 5, /index/],
    ['rows[ 1]', 5, /index/],
    ['rows[١]', 5, /index/],
    ['rows[[1]', 5, /index/],
    ['rows[2]x', 7, /Expected `\.` or `\[`/],
    ['rows[2]]', 7, /Expected `\.` or `\[`/],
    ['rows[2]\\.', 7, /Expected `\.` or `\[`/],
    ['a\\', 1, /unfinished/],
    ['a\\b', 1, /only/],
    ['\\"', 0, /only/],
  ])('%j is refused at byte %i', (text, position, detail) => {
    const problem = problemFrom(() => parsePath(text));
    expect(problem).toMatchObject({ code: 'invalid_request', position });
    expect(problem.detail).toMatch(detail);
  });

  it('may be as long and as deep as the bounds, and no more', () => {
    expect(parsePath('é'.repeat(PATH_BYTES_MAX / 2))).toHaveLength(1);
    expect(problemFrom(() => parsePath('é'.repeat(PATH_BYTES_MAX / 2) + 'a'))).toMatchObject({
      limit: 256,
      given: 257,
    });
    const segments = (count: number): string => Array.from({ length: count }, () => 'a').join('.');
    expect(parsePath(segments(PATH_SEGMENTS_MAX))).toHaveLength(16);
    expect(problemFrom(() => parsePath(segments(PATH_SEGMENTS_MAX + 1)))).toMatchObject({ limit: 16, given: 17 });
    expect(problemFrom(() => parsePath(`a${'[0]'.repeat(16)}`))).toMatchObject({ limit: 16, given: 17 });
    expect(problemFrom(() => parsePath('a[4294967296]'))).toMatchObject({ limit: 4294967295, given: '4294967296' });
    expect(problemFrom(() => parsePath(`a[${'9'.repeat(200)}]`)).limit).toBe(4294967295);
  });

  it('is the only text of its path', () => {
    const step = fc.oneof(fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }), fc.nat({ max: 4294967295 }));
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (path) => {
        fc.pre(Buffer.byteLength(pathText(path)) <= PATH_BYTES_MAX);
        expect(parsePath(pathText(path))).toEqual(path);
      }),
      { numRuns: 2_000, seed: 3 },
    );
  });

  it('reads back as itself whenever it is accepted at all', () => {
    const seeded = new Seeded(9);
    let accepted = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const text = Array.from({ length: seeded.below(9) }, () =>
        seeded.pick(['a', '.', '[', ']', '\\', '0', '1', 'é', ' ']),
      ).join('');
      let path;
      try {
        path = parsePath(text);
      } catch (thrown) {
        const problem = problemFrom(() => {
          throw thrown;
        });
        expect(problem.position).toBeLessThanOrEqual(Buffer.byteLength(text));
        continue;
      }
      accepted += 1;
      expect(pathText(path)).toBe(text);
    }
    expect(accepted).toBeGreaterThan(1_000);
  });
});
