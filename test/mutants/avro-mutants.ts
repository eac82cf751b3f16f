/** As `mutants.ts`, in the Avro walker and what it is made of. */
import { type Mutant, mutantsAt } from './mutant.js';

export const AVRO_MUTANTS: readonly Mutant[] = [
  ...mutantsAt(
    'src/codec/avro/machine.ts',
    ['if (stack[loop + 1] !== NONE && stack[loop + 1] !== p) return -MALFORMED;', ''],
    ['count = (count + left) | 0;', ''],
    ['stack[loop + 2] = index + 1;', ''],
    ['stack[loop + 3] = target + 2;', ''],
    ['depth = stack[top + 1]!;', ''],
    ['if (Math.abs(count) > left) return -TOO_LARGE;', ''],
    ['return count > this.budget ? -TOO_LARGE : -reason;', 'return -reason;'],
    ['(high !== -SAFE_HIGH || low !== 0)', 'true'],
    ['if (size < 0 || size > end - p) return -MALFORMED;', 'if (size < 0) return -MALFORMED;'],
    ['return count + code[pc + 1]! > this.budget ? -TOO_LARGE : p;', 'return p;'],
    ['if (code[pc + 3]! < p - runStart)', 'if (code[pc + 3]! <= p - runStart)'],
    ['ends[slot] = this.symbolStarts[symbol + 1]!;', 'ends[slot] = this.symbolStarts[symbol]!;'],
  ),
  ...mutantsAt(
    'src/codec/avro/plan.ts',
    ['this.words[added]! -= begun;', ''],
    ['this.pending = begun;', ''],
    ['if (from < to) this.read(op.CLEAR, from, to);', ''],
    ['this.value(type, node, level + 1, true);', 'this.value(type, node, level + 1, false);'],
    ['this.isDepthBound = this.survey.height > this.maxDepth;', 'this.isDepthBound = false;'],
    ['level > this.checked && (!this.isRooted || level > this.maxDepth)', 'level > this.checked + 1'],
    ['this.read(op.PICK, slot, this.trie.indexAt[child]!)', 'this.read(op.PICK, slot, 0)'],
  ),
  ...mutantsAt(
    'src/codec/avro/skip-scalars.ts',
    ['if (past - p > 4) {', 'if (past - p > 5) {'],
    ['(~view.getInt32(p + 4, true) & 0x7ff00000) === 0', '(~view.getInt32(p + 4, true) & 0x7ff80000) === 0'],
    ['(~view.getInt32(p, true) & 0x7f800000) === 0', '(~view.getInt32(p, true) & 0x7fc00000) === 0'],
    ['if ((length & 1) !== 0) return ~at;', ''],
    ['if (length > end - p) return ~at;', ''],
    ['while (p < lastPair) {', 'while (p < lastPair - 8) {'],
    ['(view.getInt32(p, true) & FIRST_BITS[length]!) |', ''],
    ['return places < count ? ~places : from + count;', 'return from + places;'],
  ),
  ...mutantsAt(
    'src/codec/avro/varint.ts',
    ['if (shift === 63 && byte > 1) return -1;', ''],
    ['const high = (second >>> 4) | (third << 24);', 'const high = second >>> 4;'],
    ['(p === from + BYTES_MAX - 1 && view.getUint8(p) > 1)', 'false'],
    ['this.high === this.low >> 31', 'this.high === 0 || this.high === -1'],
  ),
  ...mutantsAt(
    'src/codec/avro/survey.ts',
    ['return this.mentions.get(record) === 1;', 'return true;'],
    ['this.heights.get(record) ?? Infinity', 'this.heights.get(record) ?? 0'],
  ),
  ...mutantsAt(
    'src/codec/avro/walker.ts',
    ['if (end - start > this.maxPayloadBytes) return TOO_LARGE;', ''],
    ['slots.kinds[slot] = SLOT_MISSING;', 'slot;'],
    ['if (past === end) return NO_REASON;', 'if (past >= 0) return NO_REASON;'],
  ),
  ...mutantsAt(
    'src/codec/avro/elements.ts',
    ['this.left = 0;\n  }', '}'],
    ['if (this.at >= this.end) return false;\n      slots', 'slots'],
  ),
];
