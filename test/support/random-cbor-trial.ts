/**
 * All CBOR walkers and the obvious decoder on the same payloads, each put at ever other places of a buffer, between ever
 * other bytes, and in a buffer of its own that ends with it; and maps whose keys repeat.
 */
import { decodeCbor } from '../../src/codec/cbor/decode.js';
import type { DecoderLimits, PayloadWalker } from '../../src/codec/walker.js';
import type { Path } from '../../src/core/path.js';
import { NO_REASON, type Reason } from '../../src/core/verdict.js';
import { CBOR_ENGINES } from './cbor-engines.js';
import { compareWithDecoded } from './walker-comparison.js';
import { beginWatched, endWatched } from './watchdog.js';

/** Heads, and bytes that begin, continue or break a character of UTF-8. */
const FILLERS = [0x00, 0x41, 0x61, 0x7f, 0x80, 0xa0, 0xbf, 0xc3, 0xf4, 0xff];
const PLACES = 23;
const BEHIND_BYTES = 64;
const STAGE_BYTES_FIRST = 4096;

export class CborTrial {
  private readonly paths: readonly Path[];
  private readonly limits: DecoderLimits;
  private readonly walkers: readonly (readonly [name: string, walker: PayloadWalker])[];
  private stage = new Uint8Array(STAGE_BYTES_FIRST);
  private turn = 0;

  /** `paths` in order, without repeats. */
  constructor(paths: readonly Path[], limits: DecoderLimits) {
    this.paths = paths;
    this.limits = limits;
    this.walkers = CBOR_ENGINES.map(({ name, makeWalker }) => [name, makeWalker(paths, limits)]);
  }

  /** Every walker says what the decoder says; throws an `Error` that spells the payload otherwise. */
  check(payload: Uint8Array): Reason {
    const start = this.turn % PLACES;
    const end = start + payload.length;
    if (this.stage.length < end + BEHIND_BYTES) this.stage = new Uint8Array((end + BEHIND_BYTES) * 2);
    this.stage.fill(FILLERS[this.turn++ % FILLERS.length]!, 0, end + BEHIND_BYTES);
    this.stage.set(payload, start);
    const decoded = decodeCbor(payload, this.limits);
    for (const [name, walker] of this.walkers) {
      beginWatched(name, payload);
      try {
        compareWithDecoded(walker, this.paths, this.stage, start, end, decoded, decodeCbor);
        compareWithDecoded(walker, this.paths, payload.slice(), 0, payload.length, decoded, decodeCbor);
      } catch (thrown) {
        const message = `${name}: ${(thrown as Error).message}: ${Buffer.from(payload).toString('hex')}`;
        throw new Error(message, { cause: thrown });
      } finally {
        endWatched();
      }
    }
    return decoded.ok ? NO_REASON : decoded.reason;
  }
}

/** The encoded map of `keys`, each with `value`, a null unless it says otherwise. Keys may repeat. */
export function cborMap(keys: readonly Uint8Array[], value: Uint8Array = Uint8Array.of(0xf6)): Uint8Array {
  const parts: Uint8Array[] = [Uint8Array.of(0xba, 0, 0, keys.length >> 8, keys.length & 255)];
  for (const key of keys) {
    const head = key.length < 24 ? [0x60 + key.length] : [0x79, key.length >> 8, key.length & 255];
    parts.push(Uint8Array.from(head), key, value);
  }
  return Buffer.concat(parts);
}

/** Sizes on both sides of where a walker changes its way to look. */
export const MAP_SIZES = [2, 3, 8, 16, 17, 63, 64, 65, 66, 300, 1500];

/** Lists of the keys of a map of `size` as `spell` makes them: some in which two are the same, and one without such. */
export function* keyLists(size: number, spell: (index: number) => string): Generator<Uint8Array[]> {
  const keys = Array.from({ length: size }, (_, index) => new Uint8Array(Buffer.from(spell(index))));
  for (const [first, second] of [
    [0, size - 1],
    [0, 1],
    [size >> 1, size - 1],
    [size - 2, size - 1],
  ] as const) {
    if (first === second) continue;
    const repeated = [...keys];
    repeated[second] = keys[first]!;
    yield repeated;
  }
  yield keys;
}

/** Ways to spell keys: short ones, ones that differ in the middle, at the end, and that are not ASCII. */
export const KEY_SPELLINGS: readonly ((index: number) => string)[] = [
  (index) => `k${index}`,
  (index) => `${String(index).padStart(4, '0')}abcd`,
  (index) => `abcd${String(index).padStart(4, '0')}`,
  (index) => `a common beginning ${index} and end`,
  (index) => `é${index}`,
  (index) => `${'x'.repeat(index % 200)}${index}`,
];
