/**
 * Where the elements of wanted repeated fields stand in the payload that is being walked: runs of tags of one field, one
 * behind the other. A field that is written in one piece is one run.
 *
 * Memory grows with the runs of the largest payload so far, each backed by at least two of its bytes, and is used again;
 * nothing is allocated for payloads like those before.
 */
import { NONE } from '../path-trie.js';

const RUNS_FIRST = 16;

export class Runs {
  private starts = new Int32Array(RUNS_FIRST);
  private ends = new Int32Array(RUNS_FIRST);
  private nexts = new Int32Array(RUNS_FIRST);
  private used = 0;
  /** By list. */
  private readonly heads: Int32Array;
  private readonly tails: Int32Array;

  constructor(lists: number) {
    this.heads = new Int32Array(lists);
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
