/**
 * The table of texts that the kernel searches payloads for. `workers/kernel/needles.ts` reads what this file writes, and
 * has the grammar.
 *
 * The kernel compares sixteen bytes at a time, so a longer text stands there with its last sixteen: what holds the text
 * holds them too. Two bytes of it are searched for first; which ones decides how often the rest has to be compared.
 */

/** Most texts in the table: one bit of a word for each. */
export const NEEDLES_MAX = 32;

const PLACES = 16;
const ROWS = PLACES + 4 * NEEDLES_MAX;
const ROW_BYTES = 80;
const TEXT_BYTES = 16;
const MASK = 16;
const FIRST = 32;
const SECOND = 48;
const LENGTH = 64;

/** How every escape that hides a needle begins. */
const UNICODE_ESCAPE = Uint8Array.of(0x5c, 0x75);

/** Bytes of JSON text, commonest first; those that are not named are rarer. */
const COMMON_BYTES = new TextEncoder().encode('"e:,ationrsdl01_c2upmhg-3{}.f5bywk4v6789 zxjq');

/** The table of at most NEEDLES_MAX needles, none of them sought yet, for payloads of at most `payloadBytesMax` bytes. */
export function needleTable(needles: readonly Uint8Array[], payloadBytesMax: number): Uint8Array {
  const table = new Uint8Array(ROWS + ROW_BYTES * (1 + needles.length));
  const words = new DataView(table.buffer);
  words.setUint32(4, needles.length, true);
  words.setUint32(8, payloadBytesMax, true);
  for (const [index, needle] of [UNICODE_ESCAPE, ...needles].entries()) {
    const row = ROWS + index * ROW_BYTES;
    const text = needle.subarray(-TEXT_BYTES);
    table.set(text, row);
    table.fill(0xff, row + MASK, row + MASK + text.length);
    const [first, second] = rarestTwo(text);
    table.fill(text[first]!, row + FIRST, row + FIRST + TEXT_BYTES);
    table.fill(text[second]!, row + SECOND, row + SECOND + TEXT_BYTES);
    [text.length, first, second].forEach((word, at) => words.setUint32(row + LENGTH + at * 4, word, true));
  }
  return table;
}

/** Makes the needles whose bits are set in `needles` those that the gate seeks. Allocates nothing to speak of. */
export function seek(table: Uint8Array, needles: number): void {
  const words = new DataView(table.buffer);
  let count = 0;
  for (let needle = 0; needle < NEEDLES_MAX; needle++) {
    if (((needles >>> needle) & 1) === 0) continue;
    words.setUint32(PLACES + count * 4, ROWS + (needle + 1) * ROW_BYTES, true);
    count += 1;
  }
  words.setUint32(0, count, true);
}

/** Places of the two rarest bytes; of one byte, its place twice. */
function rarestTwo(text: Uint8Array): readonly [first: number, second: number] {
  const places = [...text.keys()].sort((a, b) => commonness(text[a]!) - commonness(text[b]!));
  return [places[0]!, places[1] ?? places[0]!];
}

function commonness(byte: number): number {
  const at = COMMON_BYTES.indexOf(byte);
  return at < 0 ? 0 : COMMON_BYTES.length - at;
}
