/** As `mutants.ts`, in the part of the kernel that walks Protobuf payloads, and in what stands between it and the program. */
import { type Mutant, mutantsAt } from './mutant.js';

export const PROTOBUF_KERNEL_MUTANTS: readonly Mutant[] = [
  ...mutantsAt(
    'workers/kernel/protobuf.ts',
    ['if (end - start > payloadBytesMax()) return TOO_LARGE;', ''],
    ['reason == NO_REASON && (isUnsure || asksWalker)', 'reason == NO_REASON && asksWalker'],
    ['if (level == top) return TOO_DEEP;', 'if (level == top + LEVEL_BYTES) return TOO_DEEP;'],
    ['if (whole >> 32 != 0) return MALFORMED;', ''],
    ['number == 0 || isDeclared(plan, base, number)', 'number == 0'],
    ['seen = load<u32>(level, 8);', ''],
    ['(((<u64>1) << (<u64>length)) - 1)', '(((<u64>1) << (<u64>length - 1)) - 1)'],
    ['if (past > limit) return MALFORMED;', 'if (past > end) return MALFORMED;'],
  ),
  ...mutantsAt(
    'workers/kernel/protobuf-wire.ts',
    ['if (load<u8>(from, 8) < 0x80) return from + 9;', ''],
    ['load<u8>(from, 9) <= 1 ? from + 10', 'load<u8>(from, 9) <= 3 ? from + 10'],
    ['return value > <u64>LENGTH_MAX ? LENGTH_MAX : <u32>value;', 'return <u32>value;'],
    ['if (((end - from) & 3) != 0) return false;', ''],
  ),
  ...mutantsAt(
    'workers/kernel/protobuf-extraction.ts',
    ['if (runs == PROTOBUF_RUNS) {', 'if (runs == PROTOBUF_RUNS + 1) {'],
    ['if (state != 0) store<u32>(state, 0, 52);', ''],
    ['if (state != 0 && load<u32>(state, 52) == 0) setUp(state);', 'if (state != 0) setUp(state);'],
    ['store<i32>(list, NONE, 12);', ''],
    ['store<u32>(list, load<u32>(child, 16), 4);', ''],
    ['if (index < end - start) capture', 'if (index <= end - start) capture'],
  ),
  ...mutantsAt(
    'workers/kernel/protobuf-capture.ts',
    ['value >= -SAFE_MAX && value <= SAFE_MAX', 'value <= SAFE_MAX'],
    ['-(<i64>(value & 1))', '-(<i64>(value & 0))'],
  ),
  ...mutantsAt('workers/kernel/protobuf-image.ts', ['if (number < dense) return', 'if (number <= dense) return']),
  ...mutantsAt(
    'src/codec/protobuf/kernel-walker.ts',
    ['if (kernel.protobufOwner !== this) this.load(image);', 'if (kernel.protobufOwner === null) this.load(image);'],
    ['this.elements.readRuns(portable.runs);', ''],
  ),
];
