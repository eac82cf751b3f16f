/** As `mutants.ts`, in the Protobuf walker and what it is made of. */
import { type Mutant, mutantsAt } from './mutant.js';

export const PROTOBUF_MUTANTS: readonly Mutant[] = [
  ...mutantsAt(
    'src/codec/protobuf/walker.ts',
    ['if (seen !== plan.needs[state]) this.isUnsure = true;', ''],
    ['if (level === top) return TOO_DEEP;', 'if (level > top) return TOO_DEEP;'],
    ['p = stack[(level + RESUME) | 0]!;', 'p = limit;'],
    ['if (number === 0 || plan.isDeclared(base, number)) return MALFORMED;', 'if (number === 0) return MALFORMED;'],
    ['if (length > ((limit - p) | 0)) return MALFORMED;', ''],
    ['if (bits >= 0x80 && !isUtf8Text', 'if (bits > 0x80 && !isUtf8Text'],
    ['& DOUBLE_EXPONENT) === DOUBLE_EXPONENT', '& DOUBLE_EXPONENT) === 0'],
    ['length = (length & 0x7f) | (bytes[p]! << 7);', 'length = length | (bytes[p]! << 7);'],
  ),
  ...mutantsAt(
    'src/codec/protobuf/extraction.ts',
    ['this.present[state] === 0) this.setUp(state);', 'true) this.setUp(state);'],
    ['if (plan.isPlace[other] === 1) this.present[state] = 0;', ''],
    ['present[inner] = 0;', 'present[inner] = 1;'],
    ['this.pending[list] = this.trie.nextIndex[child]!;', ''],
    ['      runs.clear(list);\n', ''],
    ['else slots.kinds[slot] = MISSING_KIND;\n    }\n  }\n\n  private putObject', '}\n  }\n\n  private putObject'],
    ['if (chosen[oneof] === want) return;', 'if (chosen[oneof] !== want) return;'],
  ),
  ...mutantsAt(
    'src/codec/protobuf/elements.ts',
    ['this.packedEnd = 0;\n    this.at', 'this.at'],
    ['this.run = this.runs.after(this.run);', 'this.run = NONE;'],
  ),
  ...mutantsAt('src/codec/protobuf/runs.ts', [
    'if (tail !== NONE && this.ends[tail] === start) {',
    'if (tail !== NONE) {',
  ]),
  ...mutantsAt(
    'src/codec/protobuf/wire.ts',
    ['bytes[p]! <= 1 ? p + 1 : BAD', 'bytes[p]! <= 3 ? p + 1 : BAD'],
    ['return (end - from) % 8 === 0;', 'return true;'],
    ['return highWord(bytes, from) === 0;', 'return true;'],
    ['low < 0 || highWord(bytes, from) !== 0 ? LENGTH_MAX : low', 'low < 0 ? LENGTH_MAX : low'],
  ),
  ...mutantsAt(
    'src/codec/protobuf/plan.ts',
    [
      'const isNeeded = (field: ProtobufField): boolean => isNeededIn(message, field);',
      'const isNeeded = (field: ProtobufField): boolean => field.presence === "required";',
    ],
    ['if (found < number) low = middle + 1;', 'if (found < number) low = middle + 2;'],
  ),
  ...mutantsAt('src/codec/protobuf/plan-states.ts', [
    "if (slot === NONE || field.presence !== 'implicit') continue;",
    'if (slot === NONE) continue;',
  ]),
  ...mutantsAt(
    'src/codec/protobuf/capture.ts',
    ['(high > -SAFE_HIGH || (high === -SAFE_HIGH && low > 0))', 'high >= -SAFE_HIGH'],
    ['putInteger(slots, slot, (low >>> 1) ^ -(low & 1));', 'putInteger(slots, slot, (low >> 1) ^ -(low & 1));'],
    ['let word = (bytes[p]! & 0x7f) >>> 4;', 'let word = (bytes[p]! & 0x7f) >>> 3;'],
  ),
  ...mutantsAt(
    'src/codec/protobuf/required-fields.ts',
    ['if (isReplaced) continue;', ''],
    ['if (facts.required > 0) return false;', ''],
    ['if (oneof !== NONE && at < this.chosenFrom[oneof]!) continue;', ''],
    ["} else if (!isSame || field.shape === 'repeated') {", '} else if (!isSame) {'],
    ['if (isSorted) return;', 'return;'],
    ['seenIn[field.id] = serial;', ''],
  ),
  ...mutantsAt('src/codec/protobuf/key-text.ts', [
    '(~value.high[0]! + (low === 0 ? 1 : 0)) >>> 0',
    '~value.high[0]! >>> 0',
  ]),
  ...mutantsAt('src/codec/protobuf/key-order.ts', ['if (order !== 0) return order;', 'return order;']),
];
