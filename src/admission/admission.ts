/**
 * The three gates that a scan passes: its slot, its inline bytes, and a turn on a worker for each slice; and the one
 * before the turns that other tasks pass (contract: scan-protocol §4).
 *
 * A scan asks for its slot from the headers alone, for its inline bytes once the body says how many, and for a turn
 * before every slice, so that between slices the shards alternate however many scans each of them runs. Pure.
 */
import { ADMISSION_QUEUE_MAX } from '../core/limits.js';
import { FairGate } from './fair-gate.js';

/** From the configuration's `admission` section and the pool's size. */
export interface AdmissionCaps {
  readonly scansPerShard: number;
  readonly scansTotal: number;
  readonly queuePerShard: number;
  readonly inlineBytesMax: number;
  /** Slices that run at once: one per worker. */
  readonly workers: number;
}

/** The gates, each independent of the others; a scan that is refused at one releases what it holds of the others. */
export interface Admission {
  /** Units: scans. A full shard is refused at once unless `queuePerShard` lets it wait. */
  readonly slots: FairGate;
  /** Units: bytes of inline segments. */
  readonly inlineBytes: FairGate;
  /** Units: worker tasks that are no slices, at work or waiting for a turn. Whoever finds no room is refused at once. */
  readonly tasks: FairGate;
  /** Units: slices and other worker tasks. */
  readonly turns: FairGate;
}

/** Makes the gates, empty. `onTurnsAwaited` is told how many wait for a turn, whenever that has changed. */
export function createAdmission(caps: AdmissionCaps, onTurnsAwaited?: (waiting: number) => void): Admission {
  const anyShard = { holdersPerShard: Number.MAX_SAFE_INTEGER / 2, queuePerShard: 0 };
  return {
    slots: new FairGate({
      units: caps.scansTotal,
      holdersPerShard: caps.scansPerShard,
      queuePerShard: caps.queuePerShard,
      queue: ADMISSION_QUEUE_MAX,
    }),
    inlineBytes: new FairGate({ ...anyShard, units: caps.inlineBytesMax, queue: ADMISSION_QUEUE_MAX }),
    tasks: new FairGate({ ...anyShard, units: ADMISSION_QUEUE_MAX, queue: 0 }),
    // Every running scan and every task may wait for a turn at once: neither is ever refused one.
    turns: new FairGate(
      { ...anyShard, units: caps.workers, queue: caps.scansTotal + ADMISSION_QUEUE_MAX },
      onTurnsAwaited,
    ),
  };
}
