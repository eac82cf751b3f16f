/**
 * As `mutants.ts`, in the kernel and in what stands between it and the program. Text of the kernel is AssemblyScript: it
 * has to compile with the mistake in it.
 */
import { type Mutant, mutantsAt } from './mutant.js';

export const KERNEL_MUTANTS: readonly Mutant[] = [
  ...mutantsAt(
    'workers/kernel/json-bitmaps.ts',
    ['escapeCarry = (terminals & backslashes) >> 63;', 'escapeCarry = 0;'],
    ['cutCarry = high >> 61;', 'cutCarry = 0;'],
    ['keyCarry = u64(keyEnds < strings);', 'keyCarry = 0;'],
    ['fractionCarry = u64(fractions < digits);', 'fractionCarry = 0;'],
    ['broken |= afterZeros & digits;', ''],
    ['scalarCarry = scalars >> 63;', 'scalarCarry = 0;'],
    ['minusCarry = minuses >> 63;', 'minusCarry = 0;'],
    ['zeroCarry = leadingZeros >> 63;', 'zeroCarry = 0;'],
    ['wantsMore |= u64(over < spaces);', ''],
    ['wantsEnd |= u64(over < spaces);', ''],
    ['broken |= ~(endBit | (endBit - 1)) & ~spaces;', ''],
    ['|| <i32>load<u8>(IS_OBJECT + depth) != isObject', ''],
    ['broken |= afterMoreAsk & closes;', ''],
    ['broken |= controls & strings;', ''],
    ['if (depth > maxDepth) return JSON_BROKEN;', 'if (depth > maxDepth + 1) return JSON_BROKEN;'],
    ['if (longest != 0) return JSON_ASKS;', ''],
    ['wantsColon |= u64(over < spaces);', ''],
    ['stringCarry = <u64>((<i64>strings) >> 63);', 'stringCarry = strings >> 63;'],
    ['objectCarry = <u64>((<i64>inObject) >> 63);', ''],
    ['if (rest != 0) return JSON_BROKEN;', ''],
    ['const left = i8x16.splat(<i8>(end - at));', 'const left = i8x16.splat(<i8>(end - at + 1));'],
  ),
  ...mutantsAt(
    'workers/kernel/json-odds.ts',
    ['if (behind == 0x2e || (behind | 0x20) == 0x65) return 0;', ''],
    ['return past - first <= 3 && <i32>(p - begin) + exponent <= EXPONENT_SAFE_MAX ? first : 1;', 'return first;'],
    ['behind <= 0x20 || behind == 0x2c || behind == 0x5d || behind == 0x7d ? past : 0', 'past'],
  ),
  ...mutantsAt(
    'workers/kernel/json-escapes.ts',
    ['if (low >> 10 != 0x37) return false;', ''],
    ['} else if (pairedAt != u) return false;', '}'],
  ),
  ...mutantsAt(
    'workers/kernel/json-values.ts',
    ['if (below != belowEnd) clearSlots(below, belowEnd);', ''],
    ['if (closes < depth) {', 'if (closes <= depth) {'],
    ['if (indexOf(child) == index) {', 'if (indexOf(child) >= index) {'],
    ['return base + 63 - <usize>clz(quotes);', 'return base + 62 - <usize>clz(quotes);'],
    ['if (load<u8>(at) == 0x5c) return true;', 'if (load<u8>(at) == 0x5c) return false;'],
    ['if (open + nesting(row, bit - 1) != depth) continue;', ''],
    ['for (; counted != row; counted += ROW_BYTES) open += nesting(counted, EVERY_BIT);', ''],
    ['hasEscapedKey = hasBackslash && isKeyEscaped();', 'hasEscapedKey = false;'],
    ['carry = u64(reached < others);', ''],
    ['if (keyEnd > end) return;', ''],
  ),
  ...mutantsAt(
    'workers/kernel/json-numbers.ts',
    ['if (digits <= 19) {', 'if (digits <= 20) {'],
    ['power <= 22 && value <= SAFE_MAX', 'power <= 22'],
    ['isNegative && value == 0 ? SLOT_DOUBLE : SLOT_INTEGER', 'SLOT_INTEGER'],
    ['} else if (value <= (<u64>1) << 63) {', '} else if (value != 0) {'],
  ),
  ...mutantsAt(
    'workers/kernel/json-keys.ts',
    ['point = 0x10000 + ((point - 0xd800) << 10)', 'point = ((point - 0xd800) << 10)'],
    ['store<u8>(out, 0xe0 | (point >> 12));', 'store<u8>(out, 0xe0 | (point >> 13));'],
  ),
  ...mutantsAt(
    'workers/kernel/utf8.ts',
    ['TOO_SHORT | OVERLONG_3 | SURROGATE,', 'TOO_SHORT | OVERLONG_3,'],
    ['i8x16.sub_sat_u(three, i8x16.splat(0x70))', 'i8x16.sub_sat_u(three, i8x16.splat(0x7f))'],
  ),
  ...mutantsAt(
    'workers/kernel/paths.ts',
    ['if (<usize>load<u32>(at, 48) == length) {', '{'],
    ['child = load<i32>(at, 40);', 'child = NONE;'],
  ),
  ...mutantsAt('workers/kernel/json.ts', [
    'return exceedsDepth(start, end, depthMax()) ? TOO_DEEP : MALFORMED;',
    'return MALFORMED;',
  ]),
  ...mutantsAt(
    'workers/kernel/frames.ts',
    ['if (frameBytes > held || ', 'if ('],
    ['load<u64>(frame, 56) != 0 || ', ''],
    [' || offset > OFFSET_MAX', ''],
  ),
  ...mutantsAt(
    'workers/kernel/headers.ts',
    ['clearGuesses();\n  for', 'for'],
    ['if (slot == NONE && !isText(keyStart, keyLength)) return false;', ''],
    ['return wanted != 0 && ((low', 'return ((low'],
    ['if (length > 32) return;', ''],
    ['if (!isPlain && !isText(valueStart, length)) return false;', ''],
    ['p += <usize>load<u32>(guess, 48);\n        if (p > end) return false;', 'p += <usize>load<u32>(guess, 48);'],
    ['guessed = length + 1;', ''],
    ['kind == TEXT && length < 32', 'kind == TEXT'],
    [
      'if (!isFieldLength(valueLength) || p > end || kind == 0) return false;\n    if (slot >= 0)',
      'if (p > end || kind == 0) return false;\n    if (slot >= 0)',
    ],
  ),
  ...mutantsAt('workers/kernel/texts.ts', [
    'const low: u8 = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;',
    'const low: u8 = 0x80;',
  ]),
  ...mutantsAt(
    'src/codec/json/kernel-walker.ts',
    [
      'if (this.kernel.pathOwner !== this) this.load(this.image);',
      'if (this.kernel.pathOwner === null) this.load(this.image);',
    ],
    ['this.batch !== frames.batch || ', ''],
    ['slots.base = (row - this.first) * slots.count;', 'slots.base = 0;'],
    ['if (!captureNumber(bytes, start, end, slots, slot)) putDouble', 'putDouble'],
  ),
  ...mutantsAt(
    'src/segment/kernel-headers.ts',
    ['kernel.frames.batch === this.batch &&', ''],
    ['this.slots.base = (row - this.first) * this.slots.count;', 'this.slots.base = 0;'],
    ['what === this.what &&', ''],
  ),
];
