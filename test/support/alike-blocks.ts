/**
 * Header blocks that differ from their neighbours in one thing, as those of one producer do: for readers that expect the
 * next block to be like the last one.
 */
import { UTF8_CONTENTS } from './block-texts.js';
import { RANDOM_HEADER_KEYS } from './random-headers.js';
import type { Seeded } from './seeded.js';

const TEXT = 2;
const KEY_LENGTHS = [1, 2, 26, 27, 28, 31, 32, 33, 63, 64, 65, 255];

interface Entry {
  readonly key: Uint8Array;
  readonly kind: number;
  readonly value: Uint8Array;
}

/** A wanted key, or one that nobody wants and whose last byte alone tells it from others. */
function randomKey(random: Seeded): Uint8Array {
  if (random.chance(0.4)) return Buffer.from(random.pick(RANDOM_HEADER_KEYS));
  const key = Buffer.alloc(random.pick(KEY_LENGTHS), 'z');
  key[key.length - 1] = random.pick([0x61, 0x62, 0x7a, 0x7a, 0xe9]);
  return key;
}

/** Text that is UTF-8 or not, or a value whose length its kind, or any field, does not have. */
function randomEntry(random: Seeded): Entry {
  const key = randomKey(random);
  const text = Buffer.from(random.chance(0.5) ? random.pick(UTF8_CONTENTS) : '616263', 'hex');
  if (random.chance(0.7)) return { key, kind: TEXT, value: text };
  return {
    key,
    kind: random.pick([1, 3, 4, 6, 9, 12, 15, 99]),
    value: Buffer.alloc(random.pick([0, 1, 1, 4, 8, 256])),
  };
}

function laidOut(entries: readonly Entry[]): Uint8Array {
  const field = (kind: number, bytes: Uint8Array): Uint8Array => {
    const prefix = Buffer.alloc(5);
    prefix[0] = kind;
    prefix.writeUInt32LE(bytes.length, 1);
    return Buffer.concat([prefix, bytes]);
  };
  return Buffer.concat(entries.flatMap(({ key, kind, value }) => [field(TEXT, key), field(kind, value)]));
}

/** `count` blocks, each the one before with one entry changed, and now and then one that is harmed. */
export function alikeBlocks(random: Seeded, count: number): Uint8Array[] {
  const good = (): Entry => ({
    key: Buffer.from(random.pick(RANDOM_HEADER_KEYS)),
    kind: TEXT,
    value: Buffer.from('x'),
  });
  let entries = Array.from({ length: 1 + random.below(4) }, good);
  return Array.from({ length: count }, () => {
    const changed = random.below(entries.length);
    const block = laidOut(entries.with(changed, randomEntry(random)));
    if (random.chance(0.5)) entries = entries.with(changed, random.chance(0.5) ? randomEntry(random) : good());
    return block;
  });
}
