/**
 * Every bound of the service, each with its reason. Nothing here is configurable by itself; the configuration may
 * lower the request caps, never raise them above these.
 */

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Largest payload a decoder looks into by default (laser-filter §4). A worker holds one record at a time, so memory is
 * one window; time is bounded because validation runs at hundreds of MB/s: 1 MiB is a few milliseconds.
 */
export const PAYLOAD_BYTES_MAX = 1 * MIB;

/** Deepest nesting by default; real change records stay under 10. */
export const DEPTH_MAX = 64;

/** The contract's ceiling for a configured depth: seven bits, so a walker's stack is 128 entries. */
export const DEPTH_CEILING = 127;

/**
 * Longest text under a `regex` leaf. A match runs in WebAssembly and cannot be interrupted; at about 0.1–1 GB/s a
 * linear match of 64 KiB takes well under a millisecond, so a slice keeps its time bound.
 */
export const REGEX_SUBJECT_BYTES_MAX = 64 * KIB;

/** Largest stored frame that may be announced (formats §1, scan-protocol §1 "Torn tail"). */
export const FRAME_BYTES_MAX = 64 * MIB;

/** Offsets are safe integers inside (bigint arithmetic costs four times as much); a larger one is `source_corrupt`. */
export const OFFSET_MAX = Number.MAX_SAFE_INTEGER;

/** Filters in one scan (scan-protocol §1). One per scan until the index that makes many cheap arrives. */
export const FILTERS_PER_SCAN_MAX = 4096;
export const FILTERS_PER_SCAN_NOW = 1;

/**
 * Deepest JSON text the exact reader enters. A payload given as JSON may nest to `DEPTH_CEILING` and one past it inside
 * a request; the reader recurses once a level, so 256 levels are some tens of KiB of stack.
 */
export const JSON_DEPTH_MAX = 256;

/**
 * Most values in one JSON text. A value costs about 60 bytes of heap, so a body of the largest allowed size (8 MiB,
 * which could hold four million) stays under 100 MiB. A writer schema of 1 MiB given as byte numbers is 1,048,576.
 */
export const JSON_VALUES_MAX = 1_500_000;

/** Longest integer literal read exactly, in digits: 128 bits are 39. Longer ones are no number of this service. */
export const INTEGER_DIGITS_MAX = 39;
