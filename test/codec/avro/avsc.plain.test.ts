/** Bytes that another library writes: random values of random schemas, read back by decoder and walker. */
import avsc from 'avsc';
import { expect, it } from 'vitest';
import { bigintLong } from '../../../bench/datasets/orbit-schemas.js';
import { avroDecoder } from '../../../src/codec/avro/decode.js';
import { type AvroType, compileAvro } from '../../../src/codec/avro/schema.js';
import type { Value } from '../../../src/codec/value.js';
import { NO_REASON } from '../../../src/core/verdict.js';
import { randomAvroSchema } from '../../support/random-avro.js';
import { AvroTrial, randomAvroPaths } from '../../support/random-avro-trial.js';
import { Seeded } from '../../support/seeded.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 127 };

const LONG = bigintLong();

/** A random value as the library wants it, and as the decoder gives it. */
interface Pair {
  readonly theirs: unknown;
  readonly ours: Value;
}

const NAMES: Partial<Record<AvroType['kind'], string>> = { array: 'array', map: 'map' };

function randomValue(random: Seeded, type: AvroType, levels: number): Pair {
  switch (type.kind) {
    case 'null':
      return { theirs: null, ours: null };
    case 'boolean': {
      const value = random.chance(0.5);
      return { theirs: value, ours: value };
    }
    case 'int': {
      const value = random.pick([0, 1, -1, 63, 64, -64, -65, 2 ** 31 - 1, -(2 ** 31), random.below(2 ** 31)]);
      return { theirs: value, ours: BigInt(value) };
    }
    case 'long': {
      const value = random.pick([0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), BigInt(random.below(2 ** 32))]);
      return { theirs: value, ours: value };
    }
    case 'float': {
      const value = Math.fround(random.pick([0, -0, 0.1, 1.5, random.next() * 1e30]));
      return { theirs: value, ours: value };
    }
    case 'double': {
      const value = random.pick([0, -0, 0.1, 5e-324, random.next() * 1e300]);
      return { theirs: value, ours: value };
    }
    case 'string': {
      const value = random.pick(['', 'a', 'nominal', 'é', '🛰 衛星', 'x'.repeat(random.below(200))]);
      return { theirs: value, ours: value };
    }
    case 'bytes':
    case 'fixed': {
      const bytes = Buffer.from(
        Array.from({ length: type.kind === 'fixed' ? type.size : random.below(9) }, () => random.below(256)),
      );
      return { theirs: bytes, ours: [...bytes].map(BigInt) };
    }
    case 'enum': {
      const symbol = random.pick(type.symbols);
      return { theirs: symbol, ours: symbol };
    }
    case 'union': {
      const short = type.branches.filter(({ kind }) => kind !== 'record' && kind !== 'array' && kind !== 'map');
      const branch = random.pick(levels > 0 || short.length === 0 ? type.branches : short);
      const { theirs, ours } = randomValue(random, branch, levels - 1);
      const name = 'name' in branch ? branch.name : (NAMES[branch.kind] ?? branch.kind);
      return { theirs: branch.kind === 'null' ? null : { [name]: theirs }, ours };
    }
    case 'array': {
      const items = Array.from({ length: levels > 0 ? random.below(4) : 0 }, () =>
        randomValue(random, type.items, levels - 1),
      );
      return { theirs: items.map(({ theirs }) => theirs), ours: items.map(({ ours }) => ours) };
    }
    case 'map': {
      const keys = levels > 0 ? ['a', 'é', 'mode', ''].filter(() => random.chance(0.5)) : [];
      const values = keys.map((key) => [key, randomValue(random, type.values, levels - 1)] as const);
      return {
        theirs: Object.fromEntries(values.map(([key, { theirs }]) => [key, theirs])),
        ours: new Map(values.map(([key, { ours }]) => [key, ours])),
      };
    }
    case 'record': {
      if (levels < -20) throw new EndlessRecord();
      const fields = type.fields.map((field) => [field.name, randomValue(random, field.type, levels - 1)] as const);
      return {
        theirs: Object.fromEntries(fields.map(([name, { theirs }]) => [name, theirs])),
        ours: new Map(fields.map(([name, { ours }]) => [name, ours])),
      };
    }
  }
}

/** A record that holds itself has no value. */
class EndlessRecord extends Error {}

it('is read as the values that were written', () => {
  const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 11));
  let written = 0;
  const kinds = new Set<string>();
  for (let round = 0; round < 1200; round++) {
    const json = randomAvroSchema(random);
    const schema = compileAvro(JSON.stringify(json));
    const type = avsc.Type.forSchema(json as avsc.Schema, { registry: { long: LONG }, wrapUnions: true });
    const trial = new AvroTrial([schema], randomAvroPaths(random), LIMITS);
    for (let turn = 0; turn < 5; turn++) {
      let pair;
      try {
        pair = randomValue(random, schema.root, 4);
      } catch (thrown) {
        if (thrown instanceof EndlessRecord) break;
        throw thrown;
      }
      const bytes = type.toBuffer(pair.theirs);
      if (bytes.length > 20_000) continue;
      expect(avroDecoder(schema)(bytes, LIMITS)).toEqual({ ok: true, value: pair.ours });
      expect(trial.check(bytes)).toBe(NO_REASON);
      kinds.add(schema.root.kind);
      written++;
    }
  }
  expect(written).toBeGreaterThan(3000);
  expect(kinds.size).toBeGreaterThan(10);
});
