/**
 * All engines on the same payloads: each payload is put into every engine's stage, at ever other alignments and between
 * ever other bytes that mean something, and every engine has to say what the decoder says.
 *
 * The walkers of a trial live as long as it does, and several trials take turns on the same engines, so what one payload
 * or one list of paths leaves behind would show in the next.
 */
import { decodeJson } from '../../src/codec/json/decode.js';
import type { DecoderLimits, PayloadWalker } from '../../src/codec/walker.js';
import type { Path } from '../../src/core/path.js';
import {
  SLOT_DOUBLE,
  SLOT_INTEGER,
  SLOT_INTEGER_WIDE,
  SLOT_NEGATIVE_WIDE,
  SLOT_STRING,
  type Slots,
} from '../../src/core/slots.js';
import { NO_REASON, REASON_NAMES, type Reason } from '../../src/core/verdict.js';
import { placeAmid, SURROUNDINGS } from './surroundings.js';
import { compareWithDecoded, spellBytes } from './walker-comparison.js';
import type { WalkerEngine } from './walker-engine.js';
import { WALKER_ENGINES } from './walker-engines.js';
import { beginWatched, endWatched } from './watchdog.js';

const BLOCK_BYTES = 64;

interface Runner {
  readonly engine: WalkerEngine;
  readonly walker: PayloadWalker;
  /** Where the payload stands now. */
  bytes: Uint8Array;
  start: number;
}

/** Where and between what a payload stands; `SURROUNDINGS` by their place in the list. */
export interface Placement {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

export class WalkerTrial {
  readonly paths: readonly Path[];
  readonly limits: DecoderLimits;
  private readonly runners: readonly Runner[];
  /** What stands before the engines, and where. */
  private payload = new Uint8Array(0);
  private placement: Placement = { at: 0, before: 0, after: 0 };
  private turn = 0;

  /** `paths` in order, without repeats. */
  constructor(paths: readonly Path[], limits: DecoderLimits, engines: readonly WalkerEngine[] = WALKER_ENGINES) {
    this.paths = paths;
    this.limits = limits;
    this.runners = engines.map((engine) => ({
      engine,
      walker: engine.makeWalker(paths, limits),
      bytes: engine.stage,
      start: 0,
    }));
  }

  /** Every engine says what the decoder says; throws an `Error` that names the engine and the payload otherwise. */
  check(payload: Uint8Array, placement = this.nextPlacement()): Reason {
    this.place(payload, placement);
    return this.checkPlaced();
  }

  /** All engines say the same, which is quicker to find than what the decoder says. */
  checkAgreement(payload: Uint8Array, placement = this.nextPlacement()): Reason {
    this.place(payload, placement);
    return this.checkPlacedAgreement();
  }

  /** Puts a copy of `payload` before every engine. */
  place(payload: Uint8Array, placement = this.nextPlacement()): void {
    this.payload = payload.slice();
    this.placement = placement;
    for (const runner of this.runners) putBefore(runner, this.payload, placement);
  }

  /** Changes byte `at` of the payload that was placed last. */
  setByte(at: number, byte: number): void {
    this.payload[at] = byte;
    for (const { bytes, start } of this.runners) bytes[start + at] = byte;
  }

  /** As `check`, of the payload that was placed last. */
  checkPlaced(): Reason {
    const { payload, paths } = this;
    const decoded = decodeJson(payload, this.limits);
    for (const runner of this.runners) {
      const { walker, bytes, start } = runner;
      beginWatched(runner.engine.name, payload);
      try {
        compareWithDecoded(walker, paths, bytes, start, start + payload.length, decoded);
      } catch (thrown) {
        throw this.disagreement(runner, thrown);
      }
      endWatched();
    }
    return decoded.ok ? NO_REASON : decoded.reason;
  }

  /** As `checkAgreement`, of the payload that was placed last. */
  checkPlacedAgreement(): Reason {
    const { payload, runners } = this;
    const first = runners[0]!;
    let wanted: Reason = NO_REASON;
    for (const runner of runners) {
      beginWatched(runner.engine.name, payload);
      try {
        const reason = runner.walker.walk(runner.bytes, runner.start, runner.start + payload.length);
        if (runner === first) wanted = reason;
        else if (reason !== wanted) throw new Error(`${REASON_NAMES[reason]}, not ${REASON_NAMES[wanted]}`);
        else if (reason === NO_REASON) compareSlots(first, runner);
      } catch (thrown) {
        throw this.disagreement(runner, thrown);
      }
      endWatched();
    }
    return wanted;
  }

  /** True if the payload that was placed last, and the bytes around it, are what they were. */
  isUntouched(): boolean {
    const { payload, placement } = this;
    const before = SURROUNDINGS[placement.before]!;
    const after = SURROUNDINGS[placement.after]!;
    return this.runners.every(({ bytes, start, engine }) => {
      const end = start + payload.length;
      if (!isSame(bytes.subarray(start, end), payload)) return false;
      if (bytes !== engine.stage) return true;
      const room = Math.min(start, before.length);
      const rest = Math.min(bytes.length - end, after.length);
      return (
        isSame(bytes.subarray(start - room, start), before.subarray(before.length - room)) &&
        isSame(bytes.subarray(end, end + rest), after.subarray(0, rest))
      );
    });
  }

  private nextPlacement(): Placement {
    const turn = this.turn++;
    return {
      at: BLOCK_BYTES + ((turn * 29) % BLOCK_BYTES),
      before: turn % SURROUNDINGS.length,
      after: (turn * 7 + (turn >> 5)) % SURROUNDINGS.length,
    };
  }

  private disagreement({ engine, start }: Runner, thrown: unknown): Error {
    endWatched();
    const { before, after } = this.placement;
    const place = `at ${start}, between surroundings ${before} and ${after}`;
    const bytes = spellBytes(this.payload);
    return new Error(`${engine.name}: ${(thrown as Error).message}: ${bytes} ${place}`, { cause: thrown });
  }
}

/** As far as the stage goes: a payload that reaches past it begins earlier, and one larger than it is walked where it is. */
function putBefore(runner: Runner, payload: Uint8Array, { at, before, after }: Placement): void {
  const { stage } = runner.engine;
  runner.engine.moveTo?.(-1);
  if (payload.length > stage.length) {
    runner.bytes = payload;
    runner.start = 0;
    return;
  }
  runner.bytes = stage;
  runner.start = Math.min(at, stage.length - payload.length);
  placeAmid(stage, payload, runner.start, SURROUNDINGS[before]!, SURROUNDINGS[after]!);
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

/** What each kind of slot says, places relative to the payload. */
function compareSlots(first: Runner, other: Runner): void {
  const left = first.walker.slots;
  const right = other.walker.slots;
  for (let slot = 0; slot < left.count; slot++) {
    if (!isSameSlot(left, first.start, right, other.start, slot)) throw new Error(`another slot ${slot}`);
  }
}

function isSameSlot(left: Slots, leftStart: number, right: Slots, rightStart: number, slot: number): boolean {
  const a = left.base + slot;
  const b = right.base + slot;
  const kind = left.kinds[a]!;
  if (kind !== right.kinds[b]) return false;
  if (kind === SLOT_INTEGER || kind === SLOT_DOUBLE) return Object.is(left.numbers[a], right.numbers[b]);
  if (kind === SLOT_INTEGER_WIDE || kind === SLOT_NEGATIVE_WIDE) {
    return left.high[a] === right.high[b] && left.low[a] === right.low[b];
  }
  if (kind < SLOT_STRING) return true;
  return (
    left.starts[a]! - leftStart === right.starts[b]! - rightStart &&
    left.ends[a]! - leftStart === right.ends[b]! - rightStart
  );
}
