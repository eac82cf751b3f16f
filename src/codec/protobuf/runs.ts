/**
 * Where the elements of wanted repeated fields stand in the payload that is being walked: runs of tags of one field, one
 * behind the other. A field that is written in one piece is one run.
 *
 * Memory grows with the runs of the largest payload so far, each backed by at least two of its bytes, and is used again;
 * nothing is allocated for payloads like those before.
 */
import { NONE } from '../path-trie.js';

const RUNS_FIRST = 16;

/** Memory that is given to runs instead of their own, filled by someone else: three columns of `count`, then the lists. */
export interface RunMemory {
  readonly buffer: ArrayBuffer;
  readonly at: number;
  readonly count: number;
}

export class Runs {
  private starts: Int32Array;
  private ends: Int32Array;
  private nexts: Int32Array;
  private used = 0;
  /** By list. */
  private readonly heads: Int32Array;
  private readonly tails: Int32Array;

  /** The kernel knows this order of columns. */
  constructor(lists: number, memory?: RunMemory) {
    const count = memory?.count ?? RUNS_FIRST;
    const { buffer, at } = memory ?? { buffer: new ArrayBuffer((count * 3 + lists) * 4), at: 0 };
    this.starts = new Int32Array(buffer, at, count);
    this.ends = new Int32Array(buffer, at + count * 4, count);
    this.nexts = new Int32Array(buffer, at + count * 8, count);
    this.heads = new Int32Array(buffer, at + count * 12, lists);
    this.tails = new Int32Array(lists);
  }

  /** Forgets the payload before; each of its lists has to be cleared before it is used. */
  reset(): void {
    this.used = 0;
  }

  clear(list: number): void {
    this.heads[list] = NONE;
    this.tails[list] = NONE;
  }

  /** Notes elements that stand at `start`…`end`, tags included. */
  add(list: number, start: number, end: number): void {
    const tail = this.tails[list]!;
    if (tail !== NONE && this.ends[tail] === start) {
      this.ends[tail] = end;
      return;
    }
    const run = this.used++;
    if (run === this.starts.length) this.grow();
    this.starts[run] = start;
    this.ends[run] = end;
    this.nexts[run] = NONE;
    if (tail === NONE) this.heads[list] = run;
    else this.nexts[tail] = run;
    this.tails[list] = run;
  }

  /** The first run of a list, or NONE. */
  first(list: number): number {
    return this.heads[list]!;
  }

  /** The run after `run`, or NONE. */
  after(run: number): number {
    return this.nexts[run]!;
  }

  startOf(run: number): number {
    return this.starts[run]!;
  }

  endOf(run: number): number {
    return this.ends[run]!;
  }

  private grow(): void {
    this.starts = grown(this.starts);
    this.ends = grown(this.ends);
    this.nexts = grown(this.nexts);
  }
}

function grown(from: Int32Array): Int32Array<ArrayBuffer> {
  const to = new Int32Array(from.length * 2);
  to.set(from);
  return to;
}
