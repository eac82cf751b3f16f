/**
 * Random Avro schemas and data: bytes are written here, by the specification, in all the ways in which a datum may be
 * written (padded varints, blocks of any size with and without their bytes), some of which no library writes.
 */
import type { AvroType } from '../../src/codec/avro/schema.js';
import type { Seeded } from './seeded.js';

const FIELD_NAMES = ['a', 'b', 'c', 'mode', 'k_1'];
const MAP_KEYS = ['a', 'b', 'mode', '', 'é', '键🛰', 'a longer key than most'];
const TEXTS = [
  '',
  'x',
  'nominal',
  'safe',
  'é',
  '衛星 🛰',
  'exactly8',
  'more than eight bytes',
  `${'long '.repeat(30)}é`,
];
const SYMBOLS = ['EGG', 'CHICK', 'FLEDGED', '_x', 'a'];
/** Values after which a datum breaks off. */
const VALUES_MAX = 300;
const PRIMITIVES = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'];
const LONGS = [
  0n,
  1n,
  -1n,
  63n,
  64n,
  -64n,
  -65n,
  2n ** 31n - 1n,
  -(2n ** 31n),
  2n ** 53n - 1n,
  2n ** 53n,
  1n - 2n ** 53n,
];
const MORE_LONGS = [-(2n ** 53n), 2n ** 63n - 1n, -(2n ** 63n), 2n ** 32n, -(2n ** 32n), 1_767_225_600_000n, 2n ** 49n];

/** A schema as JSON, of a few levels; named types are used again, also inside themselves. */
export function randomAvroSchema(random: Seeded): unknown {
  return new SchemaMaker(random).type(1 + random.below(4), false);
}

class SchemaMaker {
  private readonly random: Seeded;
  private readonly names: string[] = [];
  private count = 0;

  constructor(random: Seeded) {
    this.random = random;
  }

  /** `inUnion`: no union and no name that is known already, since a union has each type once. */
  type(levels: number, inUnion: boolean): unknown {
    const { random } = this;
    if (levels === 0 || random.chance(0.2)) return this.leaf(inUnion);
    switch (random.below(inUnion ? 4 : 6)) {
      case 0:
        return { type: 'array', items: this.type(levels - 1, false) };
      case 1:
        return { type: 'map', values: this.type(levels - 1, false) };
      case 4:
      case 5:
        return this.union(levels);
      default:
        return this.record(levels);
    }
  }

  private leaf(inUnion: boolean): unknown {
    const { random } = this;
    const name = `N${this.count}`;
    switch (random.below(6)) {
      case 0:
        this.count++;
        this.names.push(name);
        return { type: 'enum', name, symbols: SYMBOLS.slice(random.below(SYMBOLS.length)) };
      case 1:
        this.count++;
        this.names.push(name);
        return { type: 'fixed', name, size: random.below(5) };
      case 2:
        if (this.names.length > 0 && !inUnion) return random.pick(this.names);
        return 'long';
      default:
        return random.pick(PRIMITIVES);
    }
  }

  private union(levels: number): unknown {
    const branches: unknown[] = [];
    const seen = new Set<string>();
    for (let count = 1 + this.random.below(4); count > 0; count--) {
      const known = this.names.length;
      const branch = this.random.chance(0.4) ? 'null' : this.type(levels - 1, true);
      const { type, name } = branch as { type?: string; name?: string };
      const what = name ?? type ?? String(branch);
      if (seen.has(what)) this.forget(known);
      else branches.push(branch);
      seen.add(what);
    }
    // A name that was used before ends chains of records that contain themselves.
    const others = this.names.filter((name) => !seen.has(name));
    if (others.length > 0 && this.random.chance(0.3)) branches.push(this.random.pick(others));
    return branches;
  }

  /** Names of a branch that was not taken are not defined. */
  private forget(known: number): void {
    this.names.length = known;
  }

  private record(levels: number): unknown {
    const { random } = this;
    const name = `N${this.count++}`;
    this.names.push(name);
    const names = FIELD_NAMES.filter(() => random.chance(0.6));
    return {
      type: 'record',
      name,
      fields: names.map((field) => ({ name: field, type: this.type(levels - 1, false) })),
    };
  }
}

/**
 * Bytes of one random datum of `type`; what nests deeper than `levels` is as short as it can be, and the bytes break off
 * where a record holds itself without end.
 */
export function randomAvroDatum(random: Seeded, type: AvroType, levels = 12): number[] {
  const writer = new DatumWriter(random);
  const bytes: number[] = [];
  writer.put(type, levels, bytes);
  return bytes;
}

class DatumWriter {
  private readonly random: Seeded;
  private values = 0;

  constructor(random: Seeded) {
    this.random = random;
  }

  put(type: AvroType, levels: number, out: number[]): void {
    const { random } = this;
    if (this.values++ > VALUES_MAX) return;
    switch (type.kind) {
      case 'null':
        return;
      case 'boolean':
        out.push(random.below(2));
        return;
      case 'int':
        return putVarint(random, BigInt.asIntN(32, randomLong(random)), out);
      case 'long':
        return putVarint(random, randomLong(random), out);
      case 'float':
        return putFloat(new Float32Array([random.pick([0, -0, 1.5, 0.1, -3e38, random.next()])]), out);
      case 'double':
        return putFloat(new Float64Array([random.pick([0, -0, 1.5, 0.1, -1e308, 5e-324, random.next()])]), out);
      case 'bytes':
        return putBytes(
          random,
          Array.from({ length: random.below(6) }, () => random.below(256)),
          out,
        );
      case 'string':
        return putBytes(random, Buffer.from(random.pick(TEXTS)), out);
      case 'fixed':
        for (let left = type.size; left > 0; left--) out.push(random.below(256));
        return;
      case 'enum':
        return putVarint(random, BigInt(random.below(type.symbols.length)), out);
      case 'union': {
        const at = levels > 0 ? random.below(type.branches.length) : shortest(type.branches);
        putVarint(random, BigInt(at), out);
        return this.put(type.branches[at]!, levels - 1, out);
      }
      case 'record':
        for (const field of type.fields) this.put(field.type, levels - 1, out);
        return;
      case 'array':
        return this.blocks(levels, out, (to) => this.put(type.items, levels - 1, to));
      case 'map':
        return this.blocks(levels, out, (to) => {
          putBytes(random, Buffer.from(random.pick(MAP_KEYS)), to);
          this.put(type.values, levels - 1, to);
        });
    }
  }

  private blocks(levels: number, out: number[], putItem: (to: number[]) => void): void {
    const { random } = this;
    for (let blocks = levels > 0 ? random.below(3) : 0; blocks > 0; blocks--) {
      const count = 1 + random.below(3);
      const items: number[] = [];
      for (let item = 0; item < count; item++) putItem(items);
      if (random.chance(0.4)) {
        putVarint(random, BigInt(-count), out);
        putVarint(random, BigInt(items.length), out);
      } else {
        putVarint(random, BigInt(count), out);
      }
      for (const byte of items) out.push(byte);
    }
    putVarint(random, 0n, out);
  }
}

function shortest(branches: readonly AvroType[]): number {
  const at = branches.findIndex(({ kind }) => kind !== 'record' && kind !== 'array' && kind !== 'map');
  return Math.max(0, at);
}

function randomLong(random: Seeded): bigint {
  if (random.chance(0.4)) return BigInt(random.below(200) - 100);
  if (random.chance(0.6)) return random.pick(random.chance(0.5) ? LONGS : MORE_LONGS);
  return BigInt.asIntN(64, BigInt(random.below(2 ** 32)) << BigInt(random.below(33)));
}

function putBytes(random: Seeded, bytes: Iterable<number> & { readonly length: number }, out: number[]): void {
  putVarint(random, BigInt(bytes.length), out);
  for (const byte of bytes) out.push(byte);
}

function putFloat(value: Float32Array | Float64Array, out: number[]): void {
  out.push(...new Uint8Array(value.buffer));
}

/** The zigzag varint of a 64-bit integer, now and then longer than it has to be. */
export function putVarint(random: Seeded, value: bigint, out: number[]): void {
  let word = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  const bytes: number[] = [];
  do {
    bytes.push(Number(word & 0x7fn));
    word >>= 7n;
  } while (word > 0n);
  while (random.chance(0.03) && bytes.length < 10) bytes.push(0);
  for (const [at, byte] of bytes.entries()) out.push(at < bytes.length - 1 ? byte | 0x80 : byte);
}
