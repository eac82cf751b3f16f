/**
 * What the host has written to `PROTOBUF_IMAGE_AT` for one walker (`src/codec/protobuf/kernel-image.ts` writes what this
 * file and those beside it read): the plan of each schema, and the tree of wanted paths.
 *
 * 32-bit words; places are addresses, 0 where there is none:
 *
 *     largest payload | deepest level | slots | plans at, an address for each schema
 *
 *     plan:  root base | its state | needs nothing more
 *            long numbers at | long codes at | states by node at
 *     block of a state, by its base, the words before it first:
 *            wanted state | needed bits | long from | long dense | long end | acts at end | 128 codes
 *     row:   base of a message or want; required bit or packed operation
 *     state: node | first slot below | slots below | kinds at | numbers at | states end | lists at | lists end |
 *            is map | type of keys | type of values | default of values | base | is present
 *     want:  node | slot | type | list | oneof | base | state to set up where it is not present | place of its own
 *     list:  node of the first wanted element | that of the next one | elements | last run | its number
 *     oneof: want set last | wants at | wants end
 *     node:  slot | first slot below | its end | first index child | next one along | index | buckets at | buckets less one
 *            | next in bucket | key at | key length | its number
 *
 * What codes mean: `src/codec/protobuf/plan.ts`. The words that the walk itself changes are `is present`, `want set last` and
 * those of lists but the first and the number.
 */
import { PROTOBUF_IMAGE_AT } from './layout';
import { areEqual } from './paths';

/** No slot, no run. */
export const NONE: i32 = -1;

/** Bytes of the records that stand in rows. */
export const STATE_BYTES: usize = 56;
export const LIST_BYTES: usize = 20;

export function payloadBytesMax(): i32 {
  return load<i32>(PROTOBUF_IMAGE_AT);
}
export function depthMax(): u32 {
  return load<u32>(PROTOBUF_IMAGE_AT, 4);
}
export function slotCount(): usize {
  return load<u32>(PROTOBUF_IMAGE_AT, 8);
}
/** The plan of a schema. */
export function planOf(schema: i32): usize {
  return load<u32>(<usize>load<u32>(PROTOBUF_IMAGE_AT, 12) + ((<usize>schema) << 2));
}
export function rootOf(plan: usize): usize {
  return load<u32>(plan);
}
export function rootStateOf(plan: usize): usize {
  return load<u32>(plan, 4);
}

const SHORT_NUMBERS: u32 = 16;

/** The code of a tag of several bytes, or 0. */
export function longCode(plan: usize, base: usize, tag: u32): u32 {
  const number = tag >> 3;
  if (number < SHORT_NUMBERS) return load<u32>(base + ((<usize>tag) << 2));
  const place = longPlace(plan, base, number);
  return place == NONE ? 0 : load<u32>(<usize>load<u32>(plan, 12) + ((<usize>place) << 5) + ((<usize>(tag & 7)) << 2));
}

/** True if a message has a field of this number, of whatever wire type. */
export function isDeclared(plan: usize, base: usize, number: u32): bool {
  let codes = base + ((<usize>number) << 5);
  if (number >= SHORT_NUMBERS) {
    const place = longPlace(plan, base, number);
    if (place == NONE) return false;
    codes = <usize>load<u32>(plan, 12) + ((<usize>place) << 5);
  }
  return v128.any_true(v128.or(v128.load(codes), v128.load(codes, 16)));
}

function longPlace(plan: usize, base: usize, number: u32): i32 {
  const from = load<i32>(base - 16);
  const dense = load<u32>(base - 12);
  if (number < dense) return from + <i32>(number - SHORT_NUMBERS);
  const numbers = <usize>load<u32>(plan, 8);
  let low = from + <i32>(dense - SHORT_NUMBERS);
  let high = load<i32>(base - 8);
  while (low < high) {
    const middle = (low + high) >> 1;
    const found = load<u32>(numbers + ((<usize>middle) << 2));
    if (found == number) return middle;
    if (found < number) low = middle + 1;
    else high = middle;
  }
  return NONE;
}

/** The state of a node that is an element or a map's value and a message. */
export function stateOfNode(plan: usize, node: usize): usize {
  return load<u32>(<usize>load<u32>(plan, 16) + ((<usize>load<u32>(node, 44)) << 2));
}

/** The child of `node` under the key of `length` bytes at `key`, or 0. May read up to 7 bytes past the key. */
export function childByKey(node: usize, key: usize, length: usize): usize {
  let hash: u32 = 0;
  if (length != 0) hash = <u32>length + <u32>load<u8>(key) * 3 + <u32>load<u8>(key + length - 1) * 5;
  let child = <usize>load<u32>(<usize>load<u32>(node, 24) + ((<usize>(hash & load<u32>(node, 28))) << 2));
  for (; child != 0; child = load<u32>(child, 32)) {
    if (load<u32>(child, 40) == <u32>length && areEqual(load<u32>(child, 36), key, length)) return child;
  }
  return 0;
}
