/**
 * Stored segments: nothing leaves a store's root, and a file is what it was at open (contract: scan-protocol §1 `path`).
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemOf } from '../../src/core/error-codes.js';
import { STORE_PATH_BYTES_MAX } from '../../src/core/limits.js';
import type { SegmentSource } from '../../src/source/segment-source.js';
import { Stores } from '../../src/source/store.js';
import { problemFrom } from '../support/refused.js';

let base = '';
let stores: Stores;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'winnow-store-')));
  mkdirSync(join(base, 'root', 'a', 'b'), { recursive: true });
  mkdirSync(join(base, 'root-beside'));
  writeFileSync(join(base, 'root', 'a', '0.log'), 'inside');
  writeFileSync(join(base, 'root', 'a', 'ü 0.log'), 'umlaut');
  writeFileSync(join(base, 'secret.log'), 'outside');
  writeFileSync(join(base, 'root-beside', 'secret.log'), 'outside');
  symlinkSync(join(base, 'secret.log'), join(base, 'root', 'leak.log'));
  symlinkSync('../secret.log', join(base, 'root', 'leak-relative.log'));
  symlinkSync('..', join(base, 'root', 'up'));
  symlinkSync('../root-beside', join(base, 'root', 'beside'));
  symlinkSync('a', join(base, 'root', 'same'));
  symlinkSync('loop', join(base, 'root', 'loop'));
  symlinkSync(join(base, 'root'), join(base, 'root-link'));
  execFileSync('mkfifo', [join(base, 'root', 'pipe')]);
  stores = new Stores({ data: join(base, 'root'), linked: join(base, 'root-link'), gone: join(base, 'nowhere') });
});

afterAll(() => rmSync(base, { recursive: true }));

function readAll(source: SegmentSource): string {
  const into = new Uint8Array(source.length + 2);
  const got = source.read(0, into, 2, source.length);
  return new TextDecoder().decode(into.subarray(2, 2 + got));
}

function textOf(store: string, path: string): string {
  const source = stores.open(store, path, '/segments/0');
  try {
    return readAll(source);
  } finally {
    source.close();
  }
}

/** What `run` returns, or the code of what it refuses. */
function outcomeOf(run: () => string): string {
  try {
    return run();
  } catch (thrown) {
    return problemOf(thrown).code;
  }
}

describe('paths', () => {
  it('opens a file under the root, through links that stay inside and a root that is a link', () => {
    expect(textOf('data', 'a/0.log')).toBe('inside');
    expect(textOf('data', 'a/ü 0.log')).toBe('umlaut');
    expect(textOf('data', 'same/0.log')).toBe('inside');
    expect(textOf('linked', 'a/0.log')).toBe('inside');
  });

  it('refuses every way out of the root', () => {
    const ways = [
      '../secret.log',
      'a/../../secret.log',
      'a/../a/0.log',
      join(base, 'secret.log'),
      '/etc/passwd',
      '//etc/passwd',
      'leak.log',
      'leak-relative.log',
      'up/secret.log',
      'beside/secret.log',
      'up',
      '..',
      '.',
      './a/0.log',
      'a//0.log',
      'a/0.log/',
      'a\\..\\0.log',
      'a/0.log\0.txt',
      'a/\ud800',
      'loop',
      '',
    ];
    for (const path of ways) {
      const problem = problemFrom(() => stores.open('data', path, '/segments/3'));
      expect(problem, path).toMatchObject({ code: 'invalid_request', field: '/segments/3/path' });
      expect(JSON.stringify(problem)).not.toContain(base);
    }
  });

  it('refuses what is no regular file, without waiting for a pipe’s writer', () => {
    for (const path of ['a', 'pipe']) {
      expect(problemFrom(() => stores.open('data', path, '/segments/0'))).toMatchObject({
        code: 'invalid_request',
        detail: 'A stored path names no regular file.',
      });
    }
  });

  it('never yields a file outside, however fast a folder is swapped for a link while it is opened', () => {
    const swapped = join(base, 'root', 'swapped');
    const swap = `
      const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
      const [folder, aside, target] = process.argv.slice(1);
      process.stdout.write('ready');
      for (;;) {
        renameSync(folder, aside); symlinkSync(target, folder);
        unlinkSync(folder); renameSync(aside, folder);
      }`;
    mkdirSync(swapped);
    writeFileSync(join(swapped, 'secret.log'), 'inside');
    const swapper = spawn(process.execPath, ['-e', swap, swapped, `${swapped}-aside`, join(base, 'root-beside')]);
    return new Promise<void>((done, fail) => {
      swapper.stdout.once('data', () => {
        const outcomes = new Map<string, number>();
        for (let round = 0; round < 3000; round += 1) {
          const outcome = outcomeOf(() => textOf('data', 'swapped/secret.log'));
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        }
        swapper.once('exit', () => {
          const unexpected = [...outcomes.keys()].filter(
            (outcome) => !['inside', 'invalid_request', 'not_found', 'unavailable'].includes(outcome),
          );
          if (unexpected.length === 0) done();
          else fail(new Error(`saw ${unexpected.join()}`));
        });
        swapper.kill('SIGKILL');
      });
    });
  });

  it('names limit and length of a path that is too long', () => {
    const path = 'ä'.repeat(STORE_PATH_BYTES_MAX / 2 + 1);
    expect(problemFrom(() => stores.open('data', path, '/segments/0'))).toMatchObject({
      code: 'invalid_request',
      limit: STORE_PATH_BYTES_MAX,
      given: STORE_PATH_BYTES_MAX + 2,
    });
    expect(problemFrom(() => stores.open('data', 'x'.repeat(300), '/segments/0')).code).toBe('invalid_request');
  });

  it('says not_found for a missing file and an unknown store, and unavailable for a root that is gone', () => {
    for (const path of ['a/1.log', 'nope/0.log', 'a/0.log/x']) {
      const problem = problemFrom(() => stores.open('data', path, '/segments/0'));
      expect(problem).toMatchObject({ code: 'not_found', field: '/segments/0/path' });
      expect(JSON.stringify(problem)).not.toContain(base);
    }
    for (const store of ['other', '', 'constructor', '__proto__']) {
      expect(problemFrom(() => stores.open(store, 'a/0.log', '/segments/0'))).toMatchObject({
        code: 'not_found',
        field: '/segments/0/store',
      });
    }
    const problem = problemFrom(() => stores.open('gone', 'a/0.log', '/segments/0'));
    expect(problem.code).toBe('unavailable');
    expect(JSON.stringify(problem)).not.toContain(base);
  });
});

describe('an open segment', () => {
  it('has the length of its opening, however the file grows or shrinks', () => {
    const path = join(base, 'root', 'grow.log');
    writeFileSync(path, '0123456789');
    const source = stores.open('data', 'grow.log', '/segments/0');
    appendFileSync(path, 'more');
    expect(source.length).toBe(10);
    expect(readAll(source)).toBe('0123456789');
    truncateSync(path, 4);
    expect(readAll(source)).toBe('0123');
    source.close();
    source.close();
  });

  it('is read from any position', () => {
    const source = stores.open('data', 'a/0.log', '/segments/0');
    const into = new Uint8Array(3);
    expect(source.read(4, into, 1, 2)).toBe(2);
    expect(into).toEqual(Uint8Array.of(0, 0x64, 0x65));
    expect(source.read(5, into, 0, 3)).toBe(1);
    expect(source.read(60, into, 0, 3)).toBe(0);
    source.close();
  });

  it('keeps its first length when it is opened again, and refuses another or a shorter file', () => {
    const path = join(base, 'root', 'again.log');
    writeFileSync(path, '0123456789');
    const first = stores.open('data', 'again.log', '/segments/0');
    const before = { length: first.length, identity: first.identity };
    first.close();
    appendFileSync(path, 'more');
    const second = stores.open('data', 'again.log', '/segments/0', before);
    expect(second.length).toBe(10);
    second.close();
    truncateSync(path, 9);
    expect(problemFrom(() => stores.open('data', 'again.log', '/segments/2', before))).toMatchObject({
      code: 'source_corrupt',
      field: '/segments/2',
      limit: 10,
      given: 9,
    });
    writeFileSync(join(base, 'root', 'other.log'), '0123456789');
    renameSync(join(base, 'root', 'other.log'), path);
    expect(problemFrom(() => stores.open('data', 'again.log', '/segments/2', before)).code).toBe('source_changed');
  });
});
