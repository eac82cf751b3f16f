/**
 * Where everything stands in the kernel's memory (design: house §5): fixed regions, so that nothing is allocated, nothing
 * grows, and a view made once stays valid. The host reads these places from the module's exported globals.
 *
 * Region sizes bound what the kernel can be asked for; whoever asks for more takes the portable path.
 *
 * Invariant: regions do not overlap, and behind the window and behind every table that is read by whole blocks stand at
 * least 64 more bytes of memory.
 */

const KIB: usize = 1024;

/** Records in one batch at most: rows of the frame table. */
export const FRAME_ROWS: i32 = 256;

/** Frame table, one column behind another; positions are relative to the window. Columns: see `frames.ts`. */
export const FRAMES_AT: usize = 64 * KIB;
export const FRAMES_BYTES: usize = 16 * KIB;

/** Tables of the header keys that a program reads, and the slots that are filled from them. */
export const HEADER_IMAGE_AT: usize = FRAMES_AT + FRAMES_BYTES;
export const HEADER_IMAGE_BYTES: usize = 112 * KIB;
export const HEADER_SLOTS_AT: usize = HEADER_IMAGE_AT + HEADER_IMAGE_BYTES;
export const HEADER_SLOTS_BYTES: usize = 256 * KIB;

/** Tables of the payload paths that a program reads, and the slots that are filled from them. */
export const PATH_IMAGE_AT: usize = HEADER_SLOTS_AT + HEADER_SLOTS_BYTES;
export const PATH_IMAGE_BYTES: usize = 1024 * KIB;
export const PATH_SLOTS_AT: usize = PATH_IMAGE_AT + PATH_IMAGE_BYTES;
export const PATH_SLOTS_BYTES: usize = 1536 * KIB;

/** Bitmaps of one payload, a row for 64 bytes of it; and notes on those rows that need a closer look. */
export const BITMAPS_AT: usize = PATH_SLOTS_AT + PATH_SLOTS_BYTES;
export const BITMAPS_BYTES: usize = 784 * KIB;
export const ODDS_AT: usize = BITMAPS_AT + BITMAPS_BYTES;
export const ODDS_BYTES: usize = 528 * KIB;

/**
 * The same two of each binary codec: its tables, and one row of slots. Codecs stand apart, because a log may hold records of
 * all of them, and loading tables takes longer than walking a record.
 */
export const CBOR_IMAGE_AT: usize = ODDS_AT + ODDS_BYTES;
export const CBOR_IMAGE_BYTES: usize = 256 * KIB;
export const CBOR_SLOTS_AT: usize = CBOR_IMAGE_AT + CBOR_IMAGE_BYTES;
export const CBOR_SLOTS_BYTES: usize = 64 * KIB;
/** Cells for the keys of maps, a table for each level of nesting: see `cbor-keys.ts`. */
export const CBOR_CELLS_AT: usize = CBOR_SLOTS_AT + CBOR_SLOTS_BYTES;
export const CBOR_CELLS_BYTES: usize = 256 * KIB;
export const AVRO_IMAGE_AT: usize = CBOR_CELLS_AT + CBOR_CELLS_BYTES;
export const AVRO_IMAGE_BYTES: usize = 512 * KIB;
export const AVRO_SLOTS_AT: usize = AVRO_IMAGE_AT + AVRO_IMAGE_BYTES;
export const AVRO_SLOTS_BYTES: usize = 64 * KIB;
export const PROTOBUF_IMAGE_AT: usize = AVRO_SLOTS_AT + AVRO_SLOTS_BYTES;
export const PROTOBUF_IMAGE_BYTES: usize = 512 * KIB;
export const PROTOBUF_SLOTS_AT: usize = PROTOBUF_IMAGE_AT + PROTOBUF_IMAGE_BYTES;
export const PROTOBUF_SLOTS_BYTES: usize = 64 * KIB;
/** Where the elements of repeated fields stand: runs at most, their columns, and as many lists. */
export const PROTOBUF_RUNS: i32 = 2048;
export const PROTOBUF_RUNS_AT: usize = PROTOBUF_SLOTS_AT + PROTOBUF_SLOTS_BYTES;
export const PROTOBUF_RUNS_BYTES: usize = 32 * KIB;

/** Texts that payloads are searched for, so that no value is found in those that hold none: see `needles.ts`. */
export const NEEDLES_AT: usize = PROTOBUF_RUNS_AT + PROTOBUF_RUNS_BYTES;
export const NEEDLES_BYTES: usize = 4 * KIB;

/** What segment bytes are read into. */
export const WINDOW_AT: usize = NEEDLES_AT + NEEDLES_BYTES;
export const WINDOW_BYTES: usize = 1024 * KIB;
