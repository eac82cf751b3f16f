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
 * Longest text under a `regex` leaf. A match runs in WebAssembly and cannot be interrupted; at about 0.1–1 GB/s an
 * ordinary match of 64 KiB takes well under a millisecond. Linear is not always fast: where the engine keeps thousands
 * of states alive (`[ab]*a[ab]{3600}c` on a text of a and b) it took two seconds, which `slice.kill_after` ends.
 */
export const REGEX_SUBJECT_BYTES_MAX = 64 * KIB;

/** Canonical text of a `laser` filter in bytes (laser-filter §1), measured on the canonical form, not on what was sent. */
export const FILTER_CANONICAL_BYTES_MAX = 8 * KIB;

/** Nodes of a filter; every item of an `in` list counts as one. The cost of one record is linear in them. */
export const FILTER_NODES_MAX = 128;

/** Nesting of a filter's nodes; the root is 1. */
export const FILTER_DEPTH_MAX = 8;

/** Segments of one payload path. */
export const PATH_SEGMENTS_MAX = 16;

/** Text of one payload path, in UTF-8 bytes. */
export const PATH_BYTES_MAX = 256;

/** Largest array index in a path: u32. */
export const PATH_INDEX_MAX = 2 ** 32 - 1;

/** Header key in a filter, in UTF-8 bytes: one more than a header block can hold, as the contract has it. */
export const FILTER_HEADER_KEY_BYTES_MAX = 256;

/** Items of an `in` list. */
export const IN_ITEMS_MAX = 64;

/** String literal in UTF-8 bytes. */
export const LITERAL_BYTES_MAX = 1024;

/** Pattern of a text match in UTF-8 bytes; the only bound of a glob's size. */
export const PATTERN_BYTES_MAX = 1024;

/** `glob` and `regex` leaves in one filter. Each regex is an engine instance of about 1 MiB: 4 MiB a filter. */
export const COMPILED_PATTERNS_MAX = 4;

/** Nested groups and class brackets in one regex; the walk over a pattern recurses once a level. */
export const PATTERN_NESTING_MAX = 64;

/**
 * Most unknown members that one compilation reports; a last warning says how many more there were. A body of 8 MiB
 * could hold half a million, and a warning is about ten times as long as the shortest member.
 */
export const FILTER_WARNINGS_MAX = 100;

/**
 * Program size of a regex in bytes (laser-filter §1 "Program size"), counted by `filter/pattern-size` with
 * `REGEX_PROGRAM_COSTS`. Check values: `a{8192}` is exactly at the bound, `\w{5}` is 251,580 and accepted, `\w{90}` and
 * `(?:a{1000}){1000}` are 4.5 MB and 32 MB and refused.
 */
export const REGEX_PROGRAM_BYTES_MAX = 256 * KIB;

/**
 * What the parts of a regex program cost, in bytes, on the reference's 64-bit layout.
 *
 * A program is a chain of states. One byte of literal text is one state; a class of ASCII alone is a state with a
 * transition per range and an end; any other class is an alternation over its UTF-8 byte sequences, of which shared
 * beginnings are stored once. The same sums with 16-byte states were checked against the memory that the engine itself
 * counts (32-bit layout): `.` 520 of 520, `[a-z]` ignoring case 160 of 160, `\w` 27,164 of 27,025, `\d` 2,736 of 2,708.
 * Named classes are constants from Unicode 17, because their ranges are not at hand when a pattern is counted.
 */
export const REGEX_PROGRAM_COSTS = {
  state: 32,
  transition: 8,
  alternate: 4,
  word: 50_316,
  notWord: 46_900,
  digit: 5_184,
  notDigit: 12_824,
  space: 680,
  notSpace: 1_924,
  /** Most that negation adds to a named class: `\P{P}` is 10,980 more than `\p{P}`. */
  negationMax: 11_000,
  /** A property that is in no list below: scripts and small categories, of which `\p{Common}` is the largest. */
  property: 13_000,
  /** Lists of property names (lower case, without `_`, `-`, space) by what the largest of each list costs. */
  properties: [
    {
      bytes: 5_000,
      names: ['greek', 'cyrillic', 'latin', 'arabic', 'han', 'hangul', 'hebrew', 'hiragana', 'katakana'],
    },
    {
      bytes: 5_000,
      names: ['any', 'ascii', 'ps', 'pe', 'pd', 'pc', 'pi', 'pf', 'sc', 'sk', 'zs', 'z', 'cc', 'cf', 'nl'],
    },
    { bytes: 6_000, names: ['nd', 'no', 'sm', 'lt', 'lm', 'decimalnumber', 'emojipresentation', 'devanagari', 'thai'] },
    { bytes: 20_000, names: ['m', 'mn', 'mark', 'nonspacingmark', 's', 'symbol', 'so', 'othersymbol', 'diacritic'] },
    {
      bytes: 30_000,
      names: ['lu', 'uppercaseletter', 'll', 'lowercaseletter', 'lowercase', 'lower', 'uppercase', 'upper'],
    },
    {
      bytes: 30_000,
      names: ['caseignorable', 'ci', 'changeswhencasefolded', 'cwcf', 'changeswhenlowercased', 'cwl'],
    },
    {
      bytes: 30_000,
      names: ['changeswhentitlecased', 'cwt', 'changeswhenuppercased', 'cwu', 'graphemeextend', 'grext'],
    },
    { bytes: 36_000, names: ['lo', 'otherletter'] },
    { bytes: 44_000, names: ['l', 'letter', 'c', 'other', 'cn', 'unassigned', 'idstart', 'ids', 'xidstart', 'xids'] },
    {
      bytes: 56_000,
      names: ['alphabetic', 'alpha', 'idcontinue', 'idc', 'xidcontinue', 'xidc', 'graphemebase', 'grbase'],
    },
  ],
} as const;

/** Largest stored frame that may be announced (formats §1, scan-protocol §1 "Torn tail"). */
export const FRAME_BYTES_MAX = 64 * MIB;

/**
 * Bytes that a worker holds of a stored segment at a time. Big enough that a read call (some µs) is under a hundredth
 * of the scan of its bytes (3 ms at 300 ns per 600-byte record), small enough that workers x window stays out of sight.
 */
export const WINDOW_BYTES = 1 * MIB;

/**
 * Bytes of an inline segment that are copied into the window at a time. Small enough that both copies are still in the
 * second cache (512 KiB) when the copy is scanned: reading frames takes 26 ns a record of 787 bytes at 64 KiB and 30 at
 * 256 KiB, beside the copy itself. What is copied beyond the last record costs a few µs.
 */
export const INLINE_PIECE_BYTES = 64 * KIB;

/** Records that the first read of a stored segment may hold at most (scan-protocol §4): times the smallest frame. */
export const PROBE_RECORDS_MAX = 128;

/** Longest `path` of a stored segment, in UTF-8 bytes: PATH_MAX is 4,096 and the root needs its part. */
export const STORE_PATH_BYTES_MAX = 1024;

/** Offsets are safe integers inside (bigint arithmetic costs four times as much); a larger one is `source_corrupt`. */
export const OFFSET_MAX = Number.MAX_SAFE_INTEGER;

/**
 * Segments in one scan. Each is opened in the first slice and costs some 100 µs there, so a thousand keep well under the
 * time at which a slice is killed; they are also parsed and planned on the main thread. A thousand segments of a GiB
 * are as much as one response may examine.
 */
export const SEGMENTS_PER_SCAN_MAX = 1024;

/**
 * Longest text of a filter as it is given, in bytes of UTF-8: 128 times the longest canonical form, for white space and
 * members that are ignored. Reading it takes some 100 ms at the most, well before a worker is killed for being late.
 */
export const FILTER_TEXT_BYTES_MAX = 1 * MIB;

/** Writer schemas that a request brings or a filter refers to: a topic has tens; each has to be compiled. */
export const SCHEMAS_PER_SCAN_MAX = 1024;

/**
 * Bytes of one writer schema (laser-filter §5): the text of an Avro schema or a `.proto` file, or a descriptor set. Real
 * ones are a few KiB; compiling the largest takes under a second, before a worker is killed for being late.
 */
export const SCHEMA_BYTES_MAX = 1 * MIB;

/** Nesting of a writer schema (laser-filter §5): as deep as payloads nest by default. */
export const SCHEMA_DEPTH_MAX = 64;

/**
 * Bytes of all writer schemas that one request brings. Every worker that sees the scan compiles them, at most
 * `SCHEMA_COMPILE_MS_PER_MIB` each MiB, which is time that its other scans wait.
 */
export const SCHEMAS_BYTES_MAX = 4 * MIB;

/**
 * Time that the bytes of schemas add to the time after which the task that compiles them is stopped by force, in ms for
 * each MiB: a MiB of Avro takes some 100 ms, one of small Protobuf messages up to 900 (2026-12-01).
 */
export const SCHEMA_COMPILE_MS_PER_MIB = 2_000;

/**
 * Writer schemas in the registry, and their bytes: each worker holds them all as text. They are compiled once when the
 * service starts, at up to a second for a MiB, so the largest registry takes half a minute then.
 */
export const SCHEMA_REGISTRY_COUNT_MAX = 4096;
export const SCHEMA_REGISTRY_BYTES_MAX = 32 * MIB;

/**
 * Bytes of the schemas of requests that a worker keeps compiled, beside those of the registry: a compiled schema takes
 * some ten times its text, and groups send the same ones with every request.
 */
export const SCHEMAS_CACHED_BYTES_MAX = 8 * MIB;

/**
 * Words of the programs by which Avro payloads of one scan are walked: its writer schemas times the paths that its
 * filters read. A schema of 1 MiB takes some 30,000 words (one wide record) to 700,000 (records of records) and up to a
 * second to compile; sixteen MiB in each worker are six of the largest, or thousands of ordinary ones. Without a bound,
 * unions of records under many paths would multiply.
 */
export const AVRO_PLAN_WORDS_MAX = 4 * MIB;

/**
 * Words of the tables by which Protobuf payloads of one scan are walked: some 150 for each message type that the root of
 * a writer schema leads to, and for each message that a filter's path goes through. Four Mi are sixteen MiB in each worker
 * and 25,000 message types, of which a real schema has some tens. Without a bound, paths through a message of many fields
 * would multiply.
 */
export const PROTOBUF_PLAN_WORDS_MAX = 4 * MIB;

/** Longest name of a Protobuf message, in bytes of UTF-8: what a path component of a file system holds, fourfold. */
export const MESSAGE_TYPE_BYTES_MAX = 1024;

/** Filters in one scan (scan-protocol §1): their numbers, which cross threads twice a slice, stay under 1 MiB. */
export const FILTERS_PER_SCAN_MAX = 4096;

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

/** Delivered records per page and filter (scan-protocol §1). */
export const COUNT_MAX = 1000;

/** What a request that names no budget gets (scan-protocol §1), lowered to the configured caps. */
export const COUNT_DEFAULT = 100;
export const MAX_REPLY_BYTES_DEFAULT = 1 * MIB;
export const MAX_EXAMINED_DEFAULT = 100_000;
export const MAX_EXAMINED_BYTES_DEFAULT = 64 * MIB;
export const DEADLINE_MS_DEFAULT = 10_000;
export const PAGES_DEFAULT = 1;
export const PROGRESS_MS_DEFAULT = 1_000;

/**
 * Records that a preview or a diff examines (scan-protocol §2). It runs the obvious evaluator, at some 10–50 µs a record
 * of a KiB: the default is well under a second, the bound a few seconds of slices, and both are fair to others.
 */
export const PREVIEW_EXAMINED_DEFAULT = 1_000;
export const PREVIEW_EXAMINED_MAX = 10_000;

/** Records that a preview returns (scan-protocol §2): 100 of 4 KiB of text are 400 KiB of reply. */
export const PREVIEW_RECORDS_DEFAULT = 20;
export const PREVIEW_RECORDS_MAX = 100;

/** Payload bytes of a returned record that a preview shows as text (scan-protocol §2). */
export const PREVIEW_TEXT_BYTES = 4096;

/** Example offsets of a funnel's node or a diff's part. An eye needs a few; 128 nodes with ten are 10 KiB of reply. */
export const EXAMPLE_OFFSETS_MAX = 10;

/**
 * Records and bytes between two looks at the clock and the cancel flag. A look costs about 50 ns, a 600-byte record
 * 300–1,500 ns: under 1 % of the work. 256 KiB of large records are under a millisecond.
 */
export const RECORDS_BETWEEN_LOOKS = 32;
export const BYTES_BETWEEN_LOOKS = 256 * KIB;

/**
 * Filters evaluated between two looks at the clock within records. A plain test takes well under a microsecond, one that
 * closes a page or runs a regex over 64 KiB about 100: 64 of the dearest are under 7 ms, so that the 4,096 filters of a
 * scan stretch no slice (10 ms) to the time at which it is killed (2 s).
 */
export const EVALUATIONS_BETWEEN_LOOKS = 64;

/** First buffer of an open page; it doubles up to what `max_reply_bytes` allows. 4,096 pages of one record: 8 MiB. */
export const PAGE_BYTES_FIRST = 2 * KIB;

/** Largest buffer of a closed page that a worker keeps for the next one: 1,000 records of a kilobyte. */
export const SPARE_PAGE_BYTES_MAX = 1 * MIB;

/** Records that the first list of an open page has room for, 16 bytes each; it doubles up to what `count` allows. */
export const PAGE_RECORDS_FIRST = 16;

/**
 * Reply bytes that the open pages of one scan hold together (scan-protocol §1 `flushed`), and that one slice delivers:
 * four pages of the largest size, so that a scan of few filters never meets it, and 64 such scans stay at 2 GiB.
 */
export const OPEN_PAGES_BYTES_MAX = 32 * MIB;

/**
 * Time that each filter of a scan but the first adds to the time after which its slice is stopped by force, in ms: whichever worker
 * sees a scan first compiles its filters, at about a quarter of a millisecond each. 4,096 filters may take 8 s more.
 */
export const FILTER_COMPILE_MS_MAX = 2;

/** Scans whose decoded spec and program a worker keeps: as many as run at once in the whole service by default. */
export const SCANS_CACHED_MAX = 64;

/**
 * Text of all filters of one scan together, in bytes of UTF-8: as much as the largest JSON body could hold. Reading
 * that takes under a second (see `FILTER_TEXT_BYTES_MAX`), half of what a worker may take before it is killed.
 */
export const FILTER_TEXTS_BYTES_MAX = 8 * MIB;

/**
 * Text of the filters whose programs a worker keeps, in characters, unless one scan alone has more: a compiled filter
 * takes some twenty times its text, so this is about a third of a worker's heap.
 */
export const FILTER_TEXTS_CACHED_MAX = 8 * MIB;

/** Compiled patterns per scan and per worker (scan-protocol §4): an engine instance is 1–2 MiB of WebAssembly memory. */
export const PATTERNS_PER_SCAN_MAX = 64;
export const PATTERNS_PER_WORKER_MAX = 256;

/** Stored frame bytes per page (scan-protocol §1): eight times the default page, and one eighth of a slow client's 64 MiB. */
export const MAX_REPLY_BYTES_MAX = 8 * MIB;

/** Deadline of a scan from arrival (scan-protocol §1): what an idle proxy in between commonly tolerates. */
export const DEADLINE_MS_MAX = 60_000;

/** Pages per filter in one response (scan-protocol §1). */
export const PAGES_MAX = 10_000;

/**
 * Ceiling of `max_examined`: the deadline bounds the work already (60 s at ten million records a second is 6 × 10^8),
 * so this number only keeps the counter far from 2^53.
 */
export const MAX_EXAMINED_CAP = 1_000_000_000;

/** Ceiling of `max_examined_bytes`: 60 s at 17 GB/s is 1 TB; keeps the counter far from 2^53. */
export const MAX_EXAMINED_BYTES_CAP = 1024 * 1024 * MIB;

/** A progress frame at least this often: no longer than the longest deadline, or there would never be one. */
export const PROGRESS_MS_CAP = DEADLINE_MS_MAX;

/** Largest JSON body (head of scan-protocol): parsed on the main thread, at about 50–100 MB/s a tenth of a second. */
export const JSON_BODY_BYTES_MAX = 8 * MIB;

/** Largest MessagePack body: 64 MiB of inline segment bytes and 1 MiB for everything else. */
export const MSGPACK_BODY_BYTES_MAX = 65 * MIB;

/**
 * MessagePack bodies of at least so many bytes are read into shared memory. Below, the copy that it saves costs less than
 * the memory of its own that each shared body takes.
 */
export const SHARED_BODY_BYTES_MIN = 256 * KIB;

/**
 * A scan keeps the body that its inline segments stand in only where they are at least this share of it: otherwise they
 * are copied out, because the bound of inline bytes in the house counts segments, not what stands beside them.
 */
export const SHARED_BODY_SEGMENTS_SHARE_MIN = 0.9;

/**
 * Scans that may wait for a slot or for inline bytes, over all shards. A waiting request has only its headers, or its
 * body, in memory; past 256 waiters the drain rate of a loaded service makes the wait longer than most deadlines.
 */
export const ADMISSION_QUEUE_MAX = 256;

/**
 * Longest time that may be configured for a request to arrive, before it is answered 408: it is the longest deadline, so
 * nothing that arrives later could still be scanned, and a stalled body gives its slot back.
 */
export const REQUEST_ARRIVAL_MS_MAX = DEADLINE_MS_MAX;

/**
 * Longest time that may be configured for a client to take the rest of a finished reply, before it is cut: it holds up
 * to one slice of pages in memory.
 */
export const REPLY_FLUSH_MS_MAX = 600_000;

/** Time from SIGTERM to a forced end; scans end within a slice, the rest is for their receivers to take the last frames. */
export const SHUTDOWN_GRACE_MS = 10_000;

/** Log lines that wait to be written, in bytes: some thousand lines, for a disk or a reader that pauses. */
export const LOG_BYTES_MAX = 1 * MIB;

/** Longest shard name (scan-protocol §1). */
export const SHARD_NAME_BYTES_MAX = 64;

/**
 * Most digits of a text under the `number` coercion, leading zeros counted (laser-filter §3): a comparison walks the
 * digits of both sides once, and a decimal's buffer is this many bytes per leaf.
 */
export const COERCED_DIGITS_MAX = 512;

/**
 * Heap of one worker in MiB. A slice holds one window, one record and the open pages (32 MiB together); segment bytes
 * and compiled patterns live outside the heap. A worker that passes this is lost alone, not the process.
 */
export const WORKER_HEAP_MIB_MAX = 512;

/**
 * Young generation of one worker in MiB, three times its semi-space. Records allocate nothing, so what is young is the few
 * objects of slices and pages; the runtime's own choice of 48 costs memory that nothing uses: 353 MiB resident at most in
 * a minute of soak with two workers, 276 MiB with this (2026-12-01).
 */
export const WORKER_YOUNG_MIB_MAX = 12;
