/** As `mutants.ts`, in the CBOR walker and what it is made of. */
import { type Mutant, mutantsAt } from './mutant.js';

export const CBOR_MUTANTS: readonly Mutant[] = [
  ...mutantsAt(
    'src/codec/cbor/walker.ts',
    ['if (end - start > this.maxPayloadBytes)', 'if (end - start >= this.maxPayloadBytes)'],
    ['reason === TOO_DEEP && !largeMaps.closeAll(bytes, this.view) ? MALFORMED : reason', 'reason'],
    ['if (depth >= maxDepth) return', 'if (depth > maxDepth) return'],
    ['head < MAP ? end - p : (end - p) >> 1', 'end - p'],
    ['count <= end - p ? count : -1', 'count'],
    ['return p === end ? NO_REASON : MALFORMED;', 'return NO_REASON;'],
    ['if (stamp === IN_LARGE_MAP && !largeMaps.close(bytes, view)) return MALFORMED;', ''],
    ['if (p < 0 || p >= end) return MALFORMED;', 'if (p < 0) return MALFORMED;'],
    ['wantedLeft = this.leftAtNext(child, wanted, left) | 0;', ''],
    ['if (slot !== NONE) this.slots.ends[slot] = p;', ''],
    ['      child = NONE;\n      for (;;) {', '      for (;;) {'],
    ['if (at >= past) return;', ''],
    ['kinds[slot] = SLOT_MISSING;', 'slot;'],
  ),
  ...mutantsAt(
    'src/codec/cbor/map-keys.ts',
    [
      'stampOf[cell] = stamp;\n  keyAt[(level << PLACE_BITS) + left - 1] = p;\n  return past;',
      'keyAt[(level << PLACE_BITS) + left - 1] = p;\n  return past;',
    ],
    ['if (((first | second) & HIGH_BITS) !== 0) return takeOddKey', 'if ((first & HIGH_BITS) !== 0) return takeOddKey'],
    ['|| p >= ((end - WORDS_BYTES) | 0)', ''],
    [' && isRepeated(bytes, view, p, end, level, left)) return BAD;', ') return BAD;'],
    ['countOf[level]! - 1', 'countOf[level]! - 2'],
    ['this.count = base;\n    return !hasRepeated;', 'return !hasRepeated;'],
    [
      'hashOf(wordAt(bytes, start, past), wordAt(bytes, start + 4, past), length)',
      'hashOf(wordAt(bytes, start, past), 0, length)',
    ],
    ['this.starts.set(starts);', ''],
  ),
  ...mutantsAt(
    'src/codec/cbor/plain-item.ts',
    ['[DOUBLE, 9, 0xf07f],', '[DOUBLE, 9, 0xff7f],'],
    ['[NEGATIVE + 27, 9, 0x80],', '[NEGATIVE + 27, 9, 0xff],'],
    ['(view.getInt32((p + 13) | 0, true) & FOURTH_BITS[head]!) |', ''],
  ),
  ...mutantsAt(
    'src/codec/cbor/scalar.ts',
    ['if (byte >= TAG) return BAD_ITEM;', 'if (byte > TAG) return BAD_ITEM;'],
    ['byte >= FALSE && byte <= UNDEFINED', 'byte <= UNDEFINED'],
    ['if (bytes[from]! < MAP) return TOO_DEEP;', 'return TOO_DEEP;'],
  ),
  ...mutantsAt(
    'src/codec/cbor/capture.ts',
    ['isNegative && high === SAFE_HIGH - 1 && low === TWO_32 - 1', 'false'],
    ['exponent === 0 ? fraction : ', ''],
  ),
  ...mutantsAt(
    'src/codec/cbor/repeated-key.ts',
    ['if (compare(greatest, order[0]) === 0) return true;', ''],
    [
      'hashes[other] === hash && orderOf(bytes, starts[from + other]!, ends[from + other]!, start, end) === 0',
      'hashes[other] === hash',
    ],
  ),
  ...mutantsAt('src/codec/cbor/elements.ts', ['left += argument * 2;', 'left += argument;']),
  ...mutantsAt('src/codec/utf8-text.ts', ['if (length === 0) return false;', '']),
];
