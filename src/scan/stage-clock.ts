/**
 * How long the stages of a slice take (contract: scan-protocol §6 `stage_seconds`), without paying for it per record.
 *
 * Reading and encoding are timed whole, they are few. Decoding happens once per record in about a microsecond, two
 * looks at the clock cost a tenth of that: so one walk in sixteen is timed and stands for the others.
 */
import type { ElementCursor, PayloadWalker, SchemaWalker } from '../codec/walker.js';
import type { Clock } from '../core/clock.js';
import type { Slots } from '../core/slots.js';
import type { Reason } from '../core/verdict.js';
import type { SegmentSource } from '../source/segment-source.js';

const SAMPLE_EVERY = 16;

export class StageClock {
  /** Milliseconds so far, sampled for `decodeMs`. */
  decodeMs = 0;
  readMs = 0;
  private readonly clock: Clock;
  private walks = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Forgets what was counted. */
  reset(): void {
    this.decodeMs = 0;
    this.readMs = 0;
  }

  /** The same walker, timed now and then. */
  timed(walker: PayloadWalker): PayloadWalker {
    return new TimedWalker(walker, this);
  }

  /** The same walker by schemas, timed now and then. */
  timedBySchema(walker: SchemaWalker): SchemaWalker {
    return new TimedSchemaWalker(walker, this);
  }

  /** The same source, every read timed. */
  timedSource(source: SegmentSource): SegmentSource {
    return source.resident === null ? new TimedSource(source, this) : source;
  }

  walk(walker: PayloadWalker, bytes: Uint8Array, start: number, end: number): Reason {
    this.walks += 1;
    if (this.walks % SAMPLE_EVERY !== 0) return walker.walk(bytes, start, end);
    const startedAtMs = this.clock.nowMs();
    const reason = walker.walk(bytes, start, end);
    this.decodeMs += (this.clock.nowMs() - startedAtMs) * SAMPLE_EVERY;
    return reason;
  }

  read(source: SegmentSource, position: number, into: Uint8Array, at: number, length: number): number {
    const startedAtMs = this.clock.nowMs();
    const count = source.read(position, into, at, length);
    this.readMs += this.clock.nowMs() - startedAtMs;
    return count;
  }
}

class TimedWalker implements PayloadWalker {
  readonly slots: Slots;
  readonly elements: ElementCursor;
  private readonly walker: PayloadWalker;
  private readonly stages: StageClock;

  constructor(walker: PayloadWalker, stages: StageClock) {
    this.walker = walker;
    this.stages = stages;
    this.slots = walker.slots;
    this.elements = walker.elements;
  }

  get isBarren(): boolean {
    return this.walker.isBarren;
  }

  get unescaped(): Uint8Array {
    return this.walker.unescaped;
  }

  walk(bytes: Uint8Array, start: number, end: number): Reason {
    return this.stages.walk(this.walker, bytes, start, end);
  }

  unescape(bytes: Uint8Array, start: number, end: number): number {
    return this.walker.unescape(bytes, start, end);
  }
}

class TimedSchemaWalker extends TimedWalker implements SchemaWalker {
  private readonly bySchema: SchemaWalker;

  constructor(walker: SchemaWalker, stages: StageClock) {
    super(walker, stages);
    this.bySchema = walker;
  }

  chooseSchema(index: number): void {
    this.bySchema.chooseSchema(index);
  }
}

class TimedSource implements SegmentSource {
  readonly length: number;
  readonly identity: string;
  readonly resident = null;
  private readonly source: SegmentSource;
  private readonly stages: StageClock;

  constructor(source: SegmentSource, stages: StageClock) {
    this.source = source;
    this.stages = stages;
    this.length = source.length;
    this.identity = source.identity;
  }

  read(position: number, into: Uint8Array, at: number, length: number): number {
    return this.stages.read(this.source, position, into, at, length);
  }

  close(): void {
    this.source.close();
  }
}
