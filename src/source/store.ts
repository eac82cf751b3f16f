/**
 * Stored segments: files under configured root folders, and the only code that opens data files.
 *
 * A path from a request can never leave its root, by `..`, by an absolute path, or by a link anywhere in it (links that
 * stay inside are followed). Checking and opening are two steps, so the answer is checked again on what was really
 * opened: the descriptor's file must be the one that the checked path still names. Refusals never tell an absolute
 * path.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import { refuse, type ErrorCode } from '../core/error-codes.js';
import { STORE_PATH_BYTES_MAX } from '../core/limits.js';
import type { OpenedBefore, SegmentSource } from './segment-source.js';

/** The configured store roots of one worker. */
export class Stores {
  readonly #roots: Readonly<Record<string, string>>;

  /** `roots`: store name → absolute folder. Folders are looked at when a segment is opened, not here. */
  constructor(roots: Readonly<Record<string, string>>) {
    this.#roots = roots;
  }

  /**
   * Opens the segment at `path` (relative, `/`-separated) under store `store`. `field` is the JSON pointer of the
   * segment in the request. `before` makes it the same segment as in an earlier slice: its length then holds again.
   *
   * Refuses `not_found` (unknown store, no such file), `invalid_request` (a path that is not plain or leaves the root,
   * not a regular file), `forbidden` (not readable for the service), `unavailable` (the store fails),
   * `source_changed` (another file than `before`), `source_corrupt` (shorter than `before`).
   */
  open(store: string, path: string, field: string, before?: OpenedBefore): SegmentSource {
    const root = Object.hasOwn(this.#roots, store) ? this.#roots[store] : undefined;
    if (root === undefined) {
      refuse('not_found', 'No store of this name is configured.', {
        field: `${field}/store`,
        given: store.slice(0, 64),
      });
    }
    checkStorePath(path, `${field}/path`);
    const source = openUnder(root, path, `${field}/path`);
    if (before === undefined) return source;
    try {
      return again(source, before, field);
    } catch (thrown) {
      source.close();
      throw thrown;
    }
  }
}

/**
 * Opens a file that the operator named on the command line, wherever it is and through any link. Refuses as
 * {@link Stores.open} does, without a field.
 */
export function openFile(path: string): SegmentSource {
  const real = attempt('', () => realpathSync.native(path));
  return openReal(real, '', () => true);
}

/**
 * Checks the text of a stored path: 1…STORE_PATH_BYTES_MAX bytes of well-formed text, relative, no empty, `.` or `..`
 * part, no NUL, no `\` (a separator elsewhere). Refuses `invalid_request` at `field`.
 */
export function checkStorePath(path: string, field: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes === 0) refuse('invalid_request', 'A stored path is empty.', { field });
  if (bytes > STORE_PATH_BYTES_MAX) {
    refuse('invalid_request', 'A stored path is too long (bytes).', {
      field,
      limit: STORE_PATH_BYTES_MAX,
      given: bytes,
    });
  }
  if (path.includes('\0') || path.includes('\\') || /\p{Surrogate}/u.test(path)) {
    refuse('invalid_request', 'A stored path holds a character that no stored path may have.', { field });
  }
  if (path.startsWith('/') || isAbsolute(path))
    refuse('invalid_request', 'A stored path is relative to its store.', { field });
  for (const part of path.split('/')) {
    if (part === '' || part === '.' || part === '..') {
      refuse('invalid_request', 'A stored path has no empty, "." or ".." parts.', { field });
    }
  }
}

function openUnder(root: string, path: string, field: string): StoredSource {
  const realRoot = realRootOf(root, field);
  const wanted = attempt(field, () => realpathSync.native(join(realRoot, path)));
  return openReal(wanted, field, (real) => isInside(real, realRoot));
}

/** Opens the file at `wanted`, a path without links, and makes sure that it is still the one it was checked to be. */
function openReal(wanted: string, field: string, mayOpen: (real: string) => boolean): StoredSource {
  if (!mayOpen(wanted)) leaves(field);
  // No following of a link put there since, and no waiting for a writer of a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const descriptor = attempt(field, () => openSync(wanted, flags));
  try {
    const opened = fstatSync(descriptor, { bigint: true });
    checkOpened(wanted, descriptor, opened, field, mayOpen);
    if (!opened.isFile()) refuseAt(field, 'invalid_request', 'A stored path names no regular file.');
    return new StoredSource(descriptor, Number(opened.size), `${opened.dev}:${opened.ino}`, field);
  } catch (thrown) {
    closeSync(descriptor);
    throw thrown;
  }
}

/** Makes sure that the file behind `descriptor` is the one that the checked path names. */
function checkOpened(
  wanted: string,
  descriptor: number,
  opened: BigIntStats,
  field: string,
  mayOpen: (real: string) => boolean,
): void {
  const actual = pathOfDescriptor(descriptor);
  // The common case, and no swapping of names can feign it: the open file is where the checked path says.
  if (actual === wanted) return;
  // The path first, then the file it names: a folder swapped for a link and back is caught by one of the two.
  const path = attempt(field, () => realpathSync.native(wanted));
  const named = attempt(field, () => lstatSync(wanted, { bigint: true }));
  if (!mayOpen(path) || !mayOpen(actual ?? path)) leaves(field);
  const isSame = path === wanted && named.dev === opened.dev && named.ino === opened.ino;
  if (!isSame) refuseAt(field, 'unavailable', 'The segment was replaced while it was opened.');
}

/** Where the kernel says that an open file is, which no swapping of names can change; undefined where it does not say. */
function pathOfDescriptor(descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}

function realRootOf(root: string, field: string): string {
  try {
    return realpathSync.native(root);
  } catch {
    // Whatever is wrong with the folder, it is the operator's to mend, not the caller's: the path is not at fault.
    return refuse('unavailable', 'The folder of this store cannot be opened.', { field });
  }
}

function again(source: StoredSource, before: OpenedBefore, field: string): SegmentSource {
  if (source.identity !== before.identity) {
    refuse('source_changed', 'A stored segment was replaced while it was scanned.', { field });
  }
  if (source.length < before.length) {
    refuse('source_corrupt', 'A stored segment became shorter while it was scanned.', {
      field,
      limit: before.length,
      given: source.length,
    });
  }
  source.length = before.length;
  return source;
}

function isInside(path: string, root: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function leaves(field: string): never {
  refuseAt(field, 'invalid_request', 'A stored path leaves its store.');
}

/** Refuses at `field`, or without one where a command opens a file. */
function refuseAt(field: string, code: ErrorCode, detail: string): never {
  refuse(code, detail, field === '' ? {} : { field });
}

/** Runs one file-system call and turns its error into a refusal that names no path. */
function attempt<T>(field: string, call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
    switch (code) {
      case 'ENOENT':
      case 'ENOTDIR':
        return refuseAt(field, 'not_found', 'No such segment.');
      case 'ELOOP':
        return leaves(field);
      case 'ENAMETOOLONG':
        return refuseAt(field, 'invalid_request', 'A part of a stored path is too long.');
      case 'EACCES':
      case 'EPERM':
        return refuseAt(field, 'forbidden', 'This process may not read the segment.');
      default:
        return refuseAt(field, 'unavailable', `The store failed (${code || 'unknown fault'}).`);
    }
  }
}

class StoredSource implements SegmentSource {
  length: number;
  readonly identity: string;
  readonly resident = null;
  readonly #field: string;
  #descriptor: number;

  constructor(descriptor: number, length: number, identity: string, field: string) {
    this.#descriptor = descriptor;
    this.length = length;
    this.identity = identity;
    this.#field = field;
  }

  read(position: number, into: Uint8Array, at: number, length: number): number {
    let got = 0;
    while (got < length) {
      const count = this.#readOnce(into, at + got, length - got, position + got);
      if (count === 0) break;
      got += count;
    }
    return got;
  }

  close(): void {
    if (this.#descriptor < 0) return;
    closeSync(this.#descriptor);
    this.#descriptor = -1;
  }

  #readOnce(into: Uint8Array, at: number, length: number, position: number): number {
    return attempt(this.#field, () => readSync(this.#descriptor, into, at, length, position));
  }
}
