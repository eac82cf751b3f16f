/**
 * Bytes to stand around a payload that mean something to JSON or to UTF-8: a walker that takes them for content gives
 * another answer.
 */

/** More than a walker may look past either end of a payload, block by block. */
const REACH_BYTES = 192;

/** Each pattern repeated over the reach. */
export const SURROUNDINGS: readonly Uint8Array[] = [
  '"',
  '\\',
  '\\"',
  '""\\',
  '0',
  '9',
  'e1',
  '.5',
  '-',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  ' ',
  ',"a":1',
  '"]}',
  '"}]9e1,',
  'true',
  'ull,',
  '\\u00',
  'dc00',
  '\n',
  '\u0000',
  '\u0001',
]
  .map((text) => [...text].map((character) => character.charCodeAt(0)))
  .concat([[0x80], [0xbf], [0xff], [0xc3], [0xe2, 0x82], [0xf0, 0x9f], [0xf0, 0x9f, 0x9a, 0x80]])
  .map((pattern) => Uint8Array.from({ length: REACH_BYTES }, (_, at) => pattern[at % pattern.length]!));

/**
 * Copies `payload` to `at` of `stage` with `before` ending where it begins and `after` beginning where it ends, as far
 * as the stage goes.
 */
export function placeAmid(
  stage: Uint8Array,
  payload: Uint8Array,
  at: number,
  before: Uint8Array,
  after: Uint8Array,
): void {
  const room = Math.min(at, before.length);
  stage.set(before.subarray(before.length - room), at - room);
  stage.set(payload, at);
  const end = at + payload.length;
  stage.set(after.subarray(0, stage.length - end), end);
}
