/**
 * The instructions of a walk plan: what the planner writes and the machine runs.
 *
 * An instruction is some words. The first is its code. The second, where it is `+` or `begun`, says how many values the
 * datum has begun since the last instruction with a `+`, which adds its number to the count when it runs; the others use
 * theirs where they fail. So the value budget costs nothing between loops and jumps, and every fault is still judged by
 * the exact number.
 *
 *     END        +
 *     STRINGS    n begun×n                values of one type, one after another, that nobody wants; so LONGS … BOOLEANS
 *     UNION      + size (target added)×size           `added`: values that the way to `target` begins
 *     NEXT       + header                             the next item of the ARRAY or MAP at `header`
 *     ARRAY      + slot body after first items (index target)… −1 0
 *     MAP        + slot body after first node target…           targets by the ordinal of the node's children
 *     LEAVES     + slot items kind        an array of scalars no index of which is wanted
 *     CALL       + target levels          the program of a record, `levels` below the one that runs
 *     RETURN     +
 *     JUMP       + target
 *     DEPTH      begun levels             a value begins that far below the record whose program runs
 *     STRING     begun slot               a wanted value; so LONG … BOOLEAN
 *     NULL       begun slot
 *     BYTES      begun slot               slot NONE: nobody wants it
 *     FIXED      begun slot size
 *     PICK       begun slot index         one of the bytes that BYTES or FIXED just read
 *     ENUM       begun slot size symbols              `symbols`: place of the first in `symbolStarts`
 *     OBJECT     begun slot               a wanted record begins
 *     OBJECT_END begun slot
 *     CLEAR      begun from to            slots that an earlier entry under the same key may have filled
 *
 * `slot` of ARRAY, MAP and LEAVES and their `node` may be NONE, and so is `items`, the program of one element, where nobody wants
 * the array.
 */
export const END = 0;
export const STRING = 1;
export const LONG = 2;
export const INT = 3;
export const DOUBLE = 4;
export const FLOAT = 5;
export const BOOLEAN = 6;
export const STRINGS = 7;
export const LONGS = 8;
export const INTS = 9;
export const DOUBLES = 10;
export const FLOATS = 11;
export const BOOLEANS = 12;
export const UNION = 13;
export const NEXT = 14;
export const ARRAY = 15;
export const MAP = 16;
export const LEAVES = 17;
export const CALL = 18;
export const RETURN = 19;
export const JUMP = 20;
export const DEPTH = 21;
export const NULL = 22;
export const BYTES = 23;
export const FIXED = 24;
export const PICK = 25;
export const ENUM = 26;
export const OBJECT = 27;
export const OBJECT_END = 28;
export const CLEAR = 29;

/** From an instruction for one wanted value to the one for some that are not. */
export const RUN_OF = STRINGS - STRING;

/** Words of ARRAY and MAP by their distance from the instruction. */
export const HEADER_SLOT = 2;
export const HEADER_BODY = 3;
export const HEADER_AFTER = 4;
export const HEADER_FIRST = 5;
/** `items` or `node`. */
export const HEADER_INNER = 6;
export const HEADER_TARGETS = 7;
