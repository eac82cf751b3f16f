/**
 * The WebAssembly kernel as the rest of the code sees it: one memory of fixed size with a window for segment bytes and a
 * table of the frames in it (design: house §5, kernel). Its source is `workers/kernel/`, whose `layout.ts` decides where
 * everything stands.
 *
 * The compiled module is handed in by `workers/` or `test/support`. An instance belongs to one worker, and within it to
 * one slice at a time: nothing of a scan stays in it that the next one could see, because whoever uses a region loads
 * it first (`headerOwner`, `pathOwner`).
 *
 * Invariant: the memory never grows, so a view of it stays valid for ever.
 */

/** An exported constant of the module. */
export interface KernelPlace {
  readonly value: number;
}

/** What the module exports. Places are bytes from the start of the memory; positions are bytes from `WINDOW_AT`. */
export interface KernelExports {
  readonly memory: WebAssembly.Memory;
  readonly FRAME_ROWS: KernelPlace;
  readonly FRAMES_AT: KernelPlace;
  readonly HEADER_IMAGE_AT: KernelPlace;
  readonly HEADER_IMAGE_BYTES: KernelPlace;
  readonly HEADER_SLOTS_AT: KernelPlace;
  readonly HEADER_SLOTS_BYTES: KernelPlace;
  readonly PATH_IMAGE_AT: KernelPlace;
  readonly PATH_IMAGE_BYTES: KernelPlace;
  readonly PATH_SLOTS_AT: KernelPlace;
  readonly PATH_SLOTS_BYTES: KernelPlace;
  readonly CBOR_IMAGE_AT: KernelPlace;
  readonly CBOR_IMAGE_BYTES: KernelPlace;
  readonly CBOR_SLOTS_AT: KernelPlace;
  readonly CBOR_SLOTS_BYTES: KernelPlace;
  readonly AVRO_IMAGE_AT: KernelPlace;
  readonly AVRO_IMAGE_BYTES: KernelPlace;
  readonly AVRO_SLOTS_AT: KernelPlace;
  readonly AVRO_SLOTS_BYTES: KernelPlace;
  readonly PROTOBUF_IMAGE_AT: KernelPlace;
  readonly PROTOBUF_IMAGE_BYTES: KernelPlace;
  readonly PROTOBUF_RUNS: KernelPlace;
  readonly PROTOBUF_RUNS_AT: KernelPlace;
  readonly PROTOBUF_SLOTS_AT: KernelPlace;
  readonly PROTOBUF_SLOTS_BYTES: KernelPlace;
  readonly NEEDLES_AT: KernelPlace;
  readonly NEEDLES_BYTES: KernelPlace;
  readonly WINDOW_AT: KernelPlace;
  readonly WINDOW_BYTES: KernelPlace;
  /** Reads at most `most` frames of the window's bytes `at`…`end` into the frame table; their number. */
  readFrames(at: number, end: number, most: number): number;
  /** Reads the header blocks of `count` rows from row `first` on into the header slots, by the header image. */
  readHeaders(first: number, count: number): void;
  /** The same for one slot; what stands under other keys is not looked at. */
  readHeader(first: number, count: number, slot: number): void;
  /** Instead of a reason: valid, and without any needle of the gate; the row of slots is undefined. */
  readonly BARREN: KernelPlace;
  /** Instead of a reason: valid, and doubles that are NaN wait for their conversion. */
  readonly NUMBERS_LEFT: KernelPlace;
  /** Instead of a reason: the portable walker has to look at this payload. */
  readonly ASKS_WALKER: KernelPlace;
  /**
   * Walks the payloads of `count` rows of the frame table from row `first` on, under the paths in PATH_IMAGE: sets
   * `payloadReasons` and fills row 0, 1, … of PATH_SLOTS.
   */
  walkJson(first: number, count: number): void;
  /**
   * Walks the payload `start`…`end` of the window as a datum of a schema in AVRO_IMAGE: its reason, or 0, and then the row
   * of AVRO_SLOTS is filled.
   */
  walkAvro(start: number, end: number, schema: number): number;
  /**
   * Walks the payload `start`…`end` of the window as CBOR under the paths in CBOR_IMAGE: its reason, 0 with CBOR_SLOTS
   * filled, or ASKS_WALKER.
   */
  walkCbor(start: number, end: number): number;
  /**
   * Walks the payload `start`…`end` of the window by schema number `schema` of PROTOBUF_IMAGE: its reason, 0 with
   * PROTOBUF_SLOTS filled, or ASKS_WALKER.
   */
  walkProtobuf(start: number, end: number, schema: number): number;
  /** Which needles of the table in NEEDLES stand in the payload of a row: bit `i` for needle `i`. */
  findNeedles(row: number): number;
}

/**
 * Columns of the frame table: row `r` is the `r`-th frame of the batch at hand. Positions are in the window. The header
 * block of row `r` is `payloadEnds[r]`…`frameEnds[r]`, and the payload begins at `payloadStarts[r]`.
 */
export class FrameTable {
  readonly rows: number;
  readonly offsets: Float64Array;
  readonly timestampLow: Uint32Array;
  readonly timestampHigh: Uint32Array;
  readonly frameStarts: Int32Array;
  readonly payloadStarts: Int32Array;
  readonly payloadEnds: Int32Array;
  readonly frameEnds: Int32Array;
  /** What the last look at the payload or the header block of a row gave: a `Reason`, 0 for none. */
  readonly payloadReasons: Uint8Array;
  readonly headerReasons: Uint8Array;
  /** Rows that hold the frames of the batch at hand. Whoever steps through the frames keeps these three. */
  count = 0;
  /** Row of the current record; −1 where it stands in none. */
  row = -1;
  /** Another number for every batch: what was found in rows ahead of their use is void once it differs. */
  batch = 0;

  constructor(buffer: ArrayBuffer, at: number, rows: number) {
    this.rows = rows;
    this.offsets = new Float64Array(buffer, at, rows);
    const column = (index: number) => at + rows * (8 + 4 * index);
    this.timestampLow = new Uint32Array(buffer, column(0), rows);
    this.timestampHigh = new Uint32Array(buffer, column(1), rows);
    this.frameStarts = new Int32Array(buffer, column(2), rows);
    this.payloadStarts = new Int32Array(buffer, column(3), rows);
    this.payloadEnds = new Int32Array(buffer, column(4), rows);
    this.frameEnds = new Int32Array(buffer, column(5), rows);
    this.payloadReasons = new Uint8Array(buffer, column(6), rows);
    this.headerReasons = new Uint8Array(buffer, column(6) + rows, rows);
  }

  /** Starts a batch of `count` rows, with no current record. */
  begin(count: number): void {
    this.count = count;
    this.row = -1;
    this.batch += 1;
  }

  /** True if the current record stands in a row, and `start`…`end` of the window is its payload. */
  isPayload(start: number, end: number): boolean {
    const { row } = this;
    return row >= 0 && this.payloadStarts[row] === start && this.payloadEnds[row] === end;
  }

  /** True if the current record stands in a row, and `start`…`end` of the window is its header block. */
  isHeaderBlock(start: number, end: number): boolean {
    const { row } = this;
    return row >= 0 && this.payloadEnds[row] === start && this.frameEnds[row] === end;
  }
}

/** One instance. */
export class Kernel {
  readonly exports: KernelExports;
  readonly buffer: ArrayBuffer;
  /** Where segment bytes are read into. */
  readonly window: Uint8Array;
  readonly frames: FrameTable;
  /** Who loaded each image last: anyone else loads it again before use. `pathOwner` is about that of JSON. */
  headerOwner: object | null = null;
  pathOwner: object | null = null;
  cborOwner: object | null = null;
  avroOwner: object | null = null;
  protobufOwner: object | null = null;

  constructor(module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module).exports as unknown as KernelExports;
    this.buffer = this.exports.memory.buffer;
    this.window = new Uint8Array(this.buffer, this.exports.WINDOW_AT.value, this.exports.WINDOW_BYTES.value);
    this.frames = new FrameTable(this.buffer, this.exports.FRAMES_AT.value, this.exports.FRAME_ROWS.value);
  }
}
