/**
 * Batches of records in an engine's stage, one behind another as in a segment: between two of them stand ever other bytes
 * that mean something, or none at all.
 */
import type { Program } from '../../src/filter/program.js';
import type { Seeded } from './seeded.js';
import { SURROUNDINGS } from './surroundings.js';
import { BATCH_RECORDS_MAX, type StagedRecord, type WalkerEngine } from './walker-engine.js';

/** What a record is made of. */
export interface RecordBytes {
  readonly payload: Uint8Array;
  readonly headerBlock: Uint8Array;
}

const NO_HEADERS = new Uint8Array(0);

/** Records without header blocks. */
export function bareRecords(payloads: readonly Uint8Array[]): RecordBytes[] {
  return payloads.map((payload) => ({ payload, headerBlock: NO_HEADERS }));
}

/**
 * Where records stand between the bytes around them: a plan, so that every engine gets the same. Throws an `Error` for
 * more records than a batch has.
 */
export function gapsFor(random: Seeded, records: readonly RecordBytes[]): Uint8Array[] {
  if (records.length > BATCH_RECORDS_MAX) throw new Error(`${records.length} records are more than a batch has`);
  return records.map(() => {
    const surroundings = random.pick(SURROUNDINGS);
    return surroundings.subarray(0, random.chance(0.3) ? 0 : random.below(100));
  });
}

/**
 * Puts `records` into the stage, each behind its gap, and tells the engine of them. Those that do not fit any more stand
 * in bytes of their own and are not told of.
 */
export function stageBatch(
  engine: WalkerEngine,
  records: readonly RecordBytes[],
  gaps: readonly Uint8Array[],
): StagedRecord[] {
  const { stage } = engine;
  let at = 0;
  let isFull = false;
  const staged = records.map(({ payload, headerBlock }, index): StagedRecord => {
    const gap = gaps[index]!;
    const bytes = payload.length + headerBlock.length;
    isFull ||= at + gap.length + bytes > stage.length;
    if (isFull) {
      const own = new Uint8Array(bytes);
      own.set(payload);
      own.set(headerBlock, payload.length);
      return { bytes: own, start: 0, payloadEnd: payload.length, end: bytes };
    }
    stage.set(gap, at);
    const start = at + gap.length;
    stage.set(payload, start);
    stage.set(headerBlock, start + payload.length);
    at = start + bytes;
    return { bytes: stage, start, payloadEnd: start + payload.length, end: at };
  });
  stage.set(SURROUNDINGS[records.length % SURROUNDINGS.length]!.subarray(0, stage.length - at), at);
  engine.announce?.(staged.filter(({ bytes }) => bytes === stage));
  return staged;
}

/** Makes record `index` of the batch the current one of `program`. */
export function beginStaged(
  program: Program,
  engine: WalkerEngine,
  staged: readonly StagedRecord[],
  index: number,
): void {
  const { bytes, start, payloadEnd, end } = staged[index]!;
  engine.moveTo?.(bytes === engine.stage ? index : -1);
  program.begin(bytes, start, payloadEnd, payloadEnd, end);
}
