/**
 * User header blocks of a batch of frames into slots (contract: formats §3; the grammar of a block stands in
 * `src/segment/header-walker.ts`, which judges every byte as this does).
 *
 * The header image, which the host writes, says which keys are wanted:
 *
 *     keys u32 | mask u32 | cells u32 | key rows at u32 | heads u32, mask + 1 of them | key rows, slot by slot
 *     key row: head u64 | tail u64 | length u32 | next u32 | rest at u32 | unused u32
 *
 * A head is the first eight bytes of a key and its tail the last eight, which overlap where it is shorter than 16; one
 * shorter than eight bytes has them at the low end of its head, and no tail. A key longer than 16
 * stands whole at `rest at`, in bytes from the image's start. `heads` and `next` are slots plus one, in chains by hash
 * (`hashOf`); 0 ends them.
 *
 * Slots stand in columns of `cells` cells (`src/core/slots.ts`): `keys` slots a row, the first frame asked for in row 0.
 *
 * Invariant: what lies outside a block may be loaded, by up to 32 bytes, but decides nothing.
 */
import { FRAME_END_AT, HEADER_REASON_AT, PAYLOAD_END_AT } from './frames';
import { HEADER_IMAGE_AT, HEADER_SLOTS_AT, WINDOW_AT } from './layout';
import { isText } from './texts';

/** `NO_REASON` and `MALFORMED` of `src/core/verdict.ts`. */
const GOOD: u8 = 0;
const MALFORMED: u8 = 6;

// Kinds of slots, of `src/core/slots.ts`.
const MISSING: u8 = 0;
const FALSE: u8 = 2;
const INTEGER: u8 = 4;
const INTEGER_WIDE: u8 = 5;
const NEGATIVE_WIDE: u8 = 6;
const DOUBLE: u8 = 7;
const STRING: u8 = 8;
const OBJECT: u8 = 11;

const SAFE_MAX: i64 = (1 << 53) - 1;

const IMAGE_HEADER_BYTES: usize = 16;
const KEY_ROW_BYTES_LOG2: usize = 5;

/** Kind and length in front of every key and value. */
const PREFIX_BYTES: usize = 5;
const FIELD_BYTES_MAX: u32 = 255;
const TEXT: u32 = 2;
const BOOL: u32 = 3;
const UINT8: u32 = 9;
/** A text key that nobody wants, and a key that is no text. */
const NONE: i32 = -1;
const OTHER: i32 = -2;

/**
 * What the next block's entries are guessed to be, one after another: those of the blocks before it in the same call.
 *
 *     the first 32 bytes of the entry | slot i32 | length of prefix and key u32 | as many of the 32 bytes as are
 *     guessed, a bit each, u32 | form u32 | length of the entry, if its form is FIXED, u32 | unused 12 bytes
 *
 * A guess of no bits is none. What is guessed is the key with its prefix, and as much of the value's as the form says.
 */
const GUESSES: usize = 8;
const GUESS_BYTES: usize = 64;
const GUESSES_AT: usize = memory.data(<i32>(GUESSES * GUESS_BYTES), 16);
const GUESSES_END: usize = GUESSES_AT + GUESSES * GUESS_BYTES;

/** Nothing of the value; its kind, which is text; its whole prefix, which is right for its kind. */
const ANY: u32 = 0;
const LETTERS: u32 = 1;
const FIXED: u32 = 2;

/**
 * Reads the whole header blocks of the frames in rows `first`…`first + count` of the frame table, and puts what each one
 * is found to be into its header reason. `count` is at most the rows of the slots.
 */
export function readHeaders(first: i32, count: i32): void {
  const keys = load<u32>(HEADER_IMAGE_AT);
  memory.fill(kindsAt(), MISSING, keys * <u32>count);
  clearGuesses();
  for (let row: i32 = 0; row < count; row++) {
    const cell = <usize>(first + row);
    const start = WINDOW_AT + <usize>load<u32>(PAYLOAD_END_AT + (cell << 2));
    const end = WINDOW_AT + <usize>load<u32>(FRAME_END_AT + (cell << 2));
    store<u8>(HEADER_REASON_AT + cell, readBlock(start, end, <u32>row * keys) ? GOOD : MALFORMED);
  }
}

/** As `readHeaders`, but of each block only the key of `slot`: what stands under other keys is stepped over unchecked. */
export function readHeader(first: i32, count: i32, slot: i32): void {
  const keys = load<u32>(HEADER_IMAGE_AT);
  memory.fill(kindsAt(), MISSING, keys * <u32>count);
  for (let row: i32 = 0; row < count; row++) {
    const cell = <usize>(first + row);
    const start = WINDOW_AT + <usize>load<u32>(PAYLOAD_END_AT + (cell << 2));
    const end = WINDOW_AT + <usize>load<u32>(FRAME_END_AT + (cell << 2));
    const isGood = readKey(start, end, slot, <u32>row * keys + <u32>slot);
    store<u8>(HEADER_REASON_AT + cell, isGood ? GOOD : MALFORMED);
  }
}

function readBlock(start: usize, end: usize, cells: u32): bool {
  let p = start;
  for (let guess = GUESSES_AT; p < end; guess += GUESS_BYTES) {
    const entry = p;
    const keyStart = p + PREFIX_BYTES;
    if (keyStart > end) return false;
    let slot: i32;
    let keyEnd: usize;
    // PERF: producers write the same keys in the same order, with values of the same kinds. Where the guess holds, the
    // entry's length is known before its bytes are looked at, and neither is its key checked again nor its slot sought.
    const isKnown = guess < GUESSES_END && isGuessed(guess, p);
    if (isKnown) {
      slot = load<i32>(guess, 32);
      keyEnd = p + <usize>load<u32>(guess, 36);
      const valueStart = keyEnd + PREFIX_BYTES;
      const form = load<u32>(guess, 44);
      if (form == FIXED) {
        p += <usize>load<u32>(guess, 48);
        if (p > end) return false;
        const kind = <u32>load<u8>(keyEnd);
        if (slot >= 0) {
          if (kind == UINT8) putInteger(cells + <u32>slot, <f64>load<u8>(valueStart), 1);
          else if (!keepValue(cells + <u32>slot, kind, valueStart, <u32>(p - valueStart))) return false;
        } else if (kind == BOOL && load<u8>(valueStart) > 1) return false;
        continue;
      }
      if (valueStart > end) return false;
      if (form == LETTERS) {
        const length = load<u32>(keyEnd, 1);
        p = valueStart + length;
        if (!isFieldLength(length) || p > end) return false;
        // PERF: as `isText`, with its commonest case written out: the calls took a fifth of a block's time (2026-12-01).
        const high = i8x16.bitmask(v128.load(valueStart)) | (i8x16.bitmask(v128.load(valueStart, 16)) << 16);
        const isPlain = length <= 32 && (high & ((<i32>0xffffffff) >>> (32 - length))) == 0;
        if (!isPlain && !isText(valueStart, length)) return false;
        if (slot >= 0) putBytes(cells + <u32>slot, STRING, valueStart, length);
        continue;
      }
    } else {
      const keyPrefix = load<u64>(p);
      const keyLength = <u32>(keyPrefix >> 8);
      keyEnd = keyStart + keyLength;
      if (!isFieldLength(keyLength) || keyEnd + PREFIX_BYTES > end || <u8>keyPrefix == 0) return false;
      slot = OTHER;
      if (((<u32>keyPrefix) & 0xff) == TEXT) {
        slot = slotOf(keyStart, keyLength);
        if (slot == NONE && !isText(keyStart, keyLength)) return false;
      }
    }
    const valueStart = keyEnd + PREFIX_BYTES;
    const valuePrefix = load<u64>(keyEnd);
    const valueLength = <u32>(valuePrefix >> 8);
    const kind = (<u32>valuePrefix) & 0xff;
    p = valueStart + valueLength;
    if (!isFieldLength(valueLength) || p > end || kind == 0) return false;
    if (slot >= 0) {
      if (!keepValue(cells + <u32>slot, kind, valueStart, valueLength)) return false;
    } else if (slot == NONE) {
      if (!isValue(kind, valueStart, valueLength)) return false;
    }
    if (!isKnown && slot != OTHER && guess < GUESSES_END) makeGuess(guess, entry, keyEnd, p, slot, kind);
  }
  return true;
}

/** True if the 32 bytes from `p` begin with what is guessed. */
function isGuessed(guess: usize, p: usize): bool {
  const low = i8x16.bitmask(i8x16.eq(v128.load(p), v128.load(guess)));
  const high = i8x16.bitmask(i8x16.eq(v128.load(p, 16), v128.load(guess, 16)));
  const wanted = load<i32>(guess, 40);
  return wanted != 0 && ((low | (high << 16)) & wanted) == wanted;
}

function clearGuesses(): void {
  for (let guess = GUESSES_AT; guess < GUESSES_END; guess += GUESS_BYTES) {
    store<u32>(guess, 0, 40);
  }
}

/** Notes a good entry with a text key, if its prefix and key are no longer than 32 bytes. */
function makeGuess(guess: usize, entry: usize, keyEnd: usize, end: usize, slot: i32, kind: u32): void {
  const length = <u32>(keyEnd - entry);
  if (length > 32) return;
  let form = ANY;
  let guessed = length;
  if (kind == TEXT && length < 32) {
    form = LETTERS;
    guessed = length + 1;
  } else if (kind <= 15 && load<u8>(WIDTHS + <usize>kind) != 0 && length + <u32>PREFIX_BYTES <= 32) {
    form = FIXED;
    guessed = length + <u32>PREFIX_BYTES;
  }
  v128.store(guess, v128.load(entry));
  v128.store(guess, v128.load(entry, 16), 16);
  store<i32>(guess, slot, 32);
  store<u32>(guess, length, 36);
  store<u32>(guess, (<u32>0xffffffff) >> (32 - guessed), 40);
  store<u32>(guess, form, 44);
  store<u32>(guess, <u32>(end - entry), 48);
}

/** As `readBlock`, with the value of one key put into `cell`. */
function readKey(start: usize, end: usize, slot: i32, cell: u32): bool {
  const row = keyRow(slot);
  const length = load<u32>(row, 16);
  let p = start;
  while (p < end) {
    const keyStart = p + PREFIX_BYTES;
    if (keyStart > end) return false;
    const keyPrefix = load<u64>(p);
    const keyLength = <u32>(keyPrefix >> 8);
    const keyEnd = keyStart + keyLength;
    const valueStart = keyEnd + PREFIX_BYTES;
    if (!isFieldLength(keyLength) || valueStart > end || <u8>keyPrefix == 0) return false;
    const valuePrefix = load<u64>(keyEnd);
    const valueLength = <u32>(valuePrefix >> 8);
    p = valueStart + valueLength;
    if (!isFieldLength(valueLength) || p > end || <u8>valuePrefix == 0) return false;
    if (keyLength == length && ((<u32>keyPrefix) & 0xff) == TEXT) {
      const isWanted = isKey(row, headOf(keyStart, length), tailOf(keyStart, length), keyStart, length);
      if (isWanted && !keepValue(cell, (<u32>valuePrefix) & 0xff, valueStart, valueLength)) return false;
    }
  }
  return true;
}

function isFieldLength(length: u32): bool {
  return length - 1 < FIELD_BYTES_MAX;
}

/** The slot of a key, or NONE. */
function slotOf(start: usize, length: u32): i32 {
  const head = headOf(start, length);
  const tail = tailOf(start, length);
  const chain = (<usize>(hashOf(head, tail, length) & load<u32>(HEADER_IMAGE_AT, 4))) << 2;
  let slot = load<i32>(HEADER_IMAGE_AT + chain, IMAGE_HEADER_BYTES) - 1;
  while (slot != NONE) {
    const row = keyRow(slot);
    if (load<u32>(row, 16) == length && isKey(row, head, tail, start, length)) return slot;
    slot = load<i32>(row, 20) - 1;
  }
  return NONE;
}

function keyRow(slot: i32): usize {
  return HEADER_IMAGE_AT + <usize>load<u32>(HEADER_IMAGE_AT, 12) + ((<usize>slot) << KEY_ROW_BYTES_LOG2);
}

/** True if the key of `row`, which is as long, is this one. */
function isKey(row: usize, head: u64, tail: u64, start: usize, length: u32): bool {
  if (load<u64>(row) != head || load<u64>(row, 8) != tail) return false;
  const rest = HEADER_IMAGE_AT + <usize>load<u32>(row, 24);
  for (let at: usize = 8; at + 8 < <usize>length; at += 8) {
    if (load<u64>(rest + at) != load<u64>(start + at)) return false;
  }
  return true;
}

function headOf(start: usize, length: u32): u64 {
  const head = load<u64>(start);
  return length < 8 ? head & (((<u64>1) << ((<u64>length) << 3)) - 1) : head;
}

function tailOf(start: usize, length: u32): u64 {
  return length < 8 ? 0 : load<u64>(start + <usize>length - 8);
}

/** The host forms the same. */
function hashOf(head: u64, tail: u64, length: u32): u32 {
  const folded = (<u32>head) ^ (<u32>(head >> 32) * 0x85ebca6b) ^ (<u32>tail * 0xc2b2ae35) ^ (<u32>(tail >> 32));
  const mixed = (folded + length) * 0x9e3779b1;
  return mixed ^ (mixed >> 15);
}

/** Checks a value under a text key that nobody wants. */
function isValue(kind: u32, start: usize, length: u32): bool {
  if (kind == TEXT) return isText(start, length);
  if (kind > 15) return true;
  const width = <u32>load<u8>(WIDTHS + <usize>kind);
  if (width == 0) return true;
  return width == length && (kind != 3 || load<u8>(start) < 2);
}

/** Bytes of each kind up to 15 that has a fixed width, else 0: bool, i8 … i128, u8 … u128, f32, f64. */
const WIDTHS: usize = memory.data<u8>([0, 0, 0, 1, 1, 2, 4, 8, 16, 1, 2, 4, 8, 16, 4, 8]);

/** Checks a value and puts it into `cell` of the slots. */
function keepValue(cell: u32, kind: u32, start: usize, length: u32): bool {
  switch (kind) {
    case 2:
      if (!isText(start, length)) return false;
      putBytes(cell, STRING, start, length);
      return true;
    case 3: {
      const byte = load<u8>(start);
      if (length != 1 || byte > 1) return false;
      store<u8>(kindsAt() + cell, FALSE + byte);
      return true;
    }
    case 4:
      putInteger(cell, <f64>load<i8>(start), 0);
      return length == 1;
    case 5:
      putInteger(cell, <f64>load<i16>(start), 0);
      return length == 2;
    case 6:
      putInteger(cell, <f64>load<i32>(start), 0);
      return length == 4;
    case 7: {
      const value = load<i64>(start);
      if (value >= -SAFE_MAX && value <= SAFE_MAX) putInteger(cell, <f64>value, 0);
      else putWide(cell, value < 0 ? NEGATIVE_WIDE : INTEGER_WIDE, value);
      return length == 8;
    }
    case 9:
      putInteger(cell, <f64>load<u8>(start), 1);
      return length == 1;
    case 10:
      putInteger(cell, <f64>load<u16>(start), 1);
      return length == 2;
    case 11:
      putInteger(cell, <f64>load<u32>(start), 1);
      return length == 4;
    case 12: {
      const value = load<i64>(start);
      if (<u64>value <= <u64>SAFE_MAX) putInteger(cell, <f64>value, 1);
      else putWide(cell, INTEGER_WIDE, value);
      return length == 8;
    }
    case 14:
      putNumber(cell, DOUBLE, <f64>load<f32>(start));
      return length == 4;
    case 15:
      putNumber(cell, DOUBLE, load<f64>(start));
      return length == 8;
    case 8:
    case 13:
      if (length != 16) return false;
  }
  // Raw bytes are text where they happen to be UTF-8.
  putBytes(cell, isText(start, length) ? STRING : OBJECT, start, length);
  return true;
}

// Columns of the slots, as `Slots` lays them out.

function kindsAt(): usize {
  return HEADER_SLOTS_AT + <usize>load<u32>(HEADER_IMAGE_AT, 8) * 24;
}

/** `isUnsigned`: 1 where the value's kind is an unsigned one, else 0. */
function putInteger(cell: u32, value: f64, isUnsigned: u32): void {
  store<u32>(HEADER_SLOTS_AT + <usize>load<u32>(HEADER_IMAGE_AT, 8) * 8 + ((<usize>cell) << 2), isUnsigned);
  putNumber(cell, INTEGER, value);
}

function putNumber(cell: u32, kind: u8, value: f64): void {
  store<f64>(HEADER_SLOTS_AT + ((<usize>cell) << 3), value);
  store<u8>(kindsAt() + cell, kind);
}

function putWide(cell: u32, kind: u8, value: i64): void {
  const cells = <usize>load<u32>(HEADER_IMAGE_AT, 8);
  const at = HEADER_SLOTS_AT + ((<usize>cell) << 2);
  store<u32>(at + cells * 8, <u32>(value >> 32));
  store<u32>(at + cells * 12, <u32>value);
  store<u8>(kindsAt() + cell, kind);
}

function putBytes(cell: u32, kind: u8, start: usize, length: u32): void {
  const cells = <usize>load<u32>(HEADER_IMAGE_AT, 8);
  const at = HEADER_SLOTS_AT + ((<usize>cell) << 2);
  store<u32>(at + cells * 16, <u32>(start - WINDOW_AT));
  store<u32>(at + cells * 20, <u32>(start - WINDOW_AT) + length);
  store<u8>(kindsAt() + cell, kind);
}
