/** What a grant's text means, and that nothing wider is ever read out of it. */
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isGranted, readApiKeys, readPattern } from '../../src/config/grant.js';

function grants(pattern: string, head: string, tail: string): boolean {
  return isGranted([readPattern(pattern)!], head, tail);
}

describe('a pattern', () => {
  it.each([
    ['orders/new', 'orders', 'new', true],
    ['orders/new', 'orders', 'newer', false],
    ['orders/new', 'Orders', 'new', false],
    ['orders/*', 'orders', 'new', true],
    ['orders/*', 'orders', 'a/b', true],
    ['orders/*', 'orders2', 'new', false],
    ['or*s/*', 'ors', 'x', true],
    ['or*s/*', 'orders/s', 'x', true],
    ['a*a/x', 'a', 'x', false],
    ['*a*b*/x', 'zazbz', 'x', true],
    ['*a*b*/x', 'zbza', 'x', false],
    ['*/*', 'any', 'thing', true],
    ['data/orders/*/0.log', 'data', 'orders/x/0.log', true],
    ['data/orders/*/0.log', 'data', 'orders/0.log', false],
    ['with%20space/a%2Cb', 'with space', 'a,b', true],
    ['a%2Fb/c', 'a/b', 'c', true],
    ['50%25/x', '50%', 'x', true],
    ['a%2A/x', 'a*', 'x', true],
    ['a%2A/x', 'ab', 'x', false],
    ['a.c/x', 'abc', 'x', false],
  ])('%s names %s and %s: %s', (pattern, head, tail, isNamed) => {
    expect(grants(pattern, head, tail)).toBe(isNamed);
  });

  it.each(['', 'orders', '/', 'orders/', '/new', '%/x', 'a/%zz', 'a/%ff'])('%j is none', (text) => {
    expect(readPattern(text)).toBeUndefined();
  });

  it('means what a regular expression of it means', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', '*'), { minLength: 1, maxLength: 8 });
    const text = fc.array(fc.constantFrom('a', 'b'), { maxLength: 10 });
    fc.assert(
      fc.property(letters, text, (pattern, name) => {
        const meant = new RegExp(`^${pattern.join('').replaceAll('*', '.*')}$`, 's').test(name.join(''));
        expect(grants(`${pattern.join('')}/x`, name.join(''), 'x')).toBe(meant);
      }),
      { seed: 20_261_130, numRuns: 2_000 },
    );
  });
});

describe('entries of keys', () => {
  const hash = `sha256:${createHash('sha256').update('secret').digest('hex')}`;
  const other = `sha256:${'0'.repeat(64)}`;

  it('are a name, a hash and what is granted', () => {
    const keys = readApiKeys([`broker-1 ${hash} scan admin stream:orders/* stream:a/b store:data/*`]);
    expect(keys).toMatchObject([{ name: 'broker-1', grant: { scopes: ['scan', 'admin'] } }]);
    const [{ grant, sha256 }] = keys as [Extract<typeof keys, readonly unknown[]>[number]];
    expect(Buffer.from(sha256).toString('hex')).toBe(hash.slice(7));
    expect(isGranted(grant.streams, 'orders', 'x') && isGranted(grant.streams, 'a', 'b')).toBe(true);
    expect(isGranted(grant.streams, 'a', 'c')).toBe(false);
    expect(isGranted(grant.stores, 'data', 'x/0.log')).toBe(true);
  });

  it.each([
    [[''], 'entry 0'],
    [['name'], 'hash'],
    [['name hunter2 scan stream:*/*'], 'hash'],
    [[`hunter2! ${hash} admin`], 'name'],
    [[`a ${hash}`], 'scope'],
    [[`a ${hash} scan`], 'stream'],
    [[`a ${hash} stream:*/*`], 'scope'],
    [[`a ${hash} scan orders/*`], 'word 3'],
    [[`a ${hash} scan stream:orders`], 'word 3'],
    [[`a ${hash} admin hunter2`], 'word 3'],
    [[`a ${hash} admin`, `a ${other} admin`], 'entry 1: its name'],
    [[`a ${hash} admin`, `b ${hash} admin`], 'entry 1: its key'],
    [Array.from({ length: 257 }, () => ''), 'at most 256'],
  ])('%j are refused, and say only where', (entries, says) => {
    const read = readApiKeys(entries);
    expect(read).toMatchObject({ fault: expect.stringContaining(says) });
    expect(JSON.stringify(read)).not.toContain('hunter2');
  });
});
