/**
 * What a mutant of the Avro codec has to survive, in one process without a test runner: random data of random schemas,
 * whole, cut and changed, against the decoder; texts around the words that they are read by; integers at the edges of
 * their kinds; and a payload between bytes that mean something. Prints `agree` or fails.
 */
import { compileAvro } from '../../src/codec/avro/schema.js';
import { AvroWalker } from '../../src/codec/avro/walker.js';
import { problemOf } from '../../src/core/error-codes.js';
import { SLOT_INTEGER, SLOT_INTEGER_WIDE, SLOT_NEGATIVE_WIDE } from '../../src/core/slots.js';
import { NO_REASON } from '../../src/core/verdict.js';
import { randomAvroDatum, randomAvroSchema } from '../support/random-avro.js';
import { AvroTrial, randomAvroPaths, runAvroTrials } from '../support/random-avro-trial.js';
import { Seeded } from '../support/seeded.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };

function damaged(random: Seeded, payloads: number): void {
  const limits = { maxPayloadBytes: 200, maxDepth: 8 };
  for (let round = 0; round < payloads; round++) {
    const schema = compileAvro(JSON.stringify(randomAvroSchema(random)));
    const bytes = Uint8Array.from(randomAvroDatum(random, schema.root, 6)).subarray(0, 250);
    const trial = new AvroTrial([schema], randomAvroPaths(random), limits);
    for (let end = bytes.length; end >= 0; end--) trial.check(bytes, 0, end);
    for (let at = 0; at < bytes.length; at++) {
      const before = bytes[at]!;
      for (const byte of [0x00, 0x01, 0x7f, 0x80, 0xff]) {
        bytes[at] = byte;
        trial.check(bytes);
      }
      bytes[at] = before;
    }
  }
}

/** Texts of every length with something at every place, before other values and at the end. */
function texts(): void {
  const schema = compileAvro(
    '{"type":"record","name":"R","fields":[{"name":"a","type":"string"},{"name":"b","type":"bytes"}]}',
  );
  const trials = [[], [['a']]].map((paths) => new AvroTrial([schema], paths, LIMITS));
  for (let length = 0; length <= 70; length++) {
    for (let at = 0; at < length; at++) {
      for (const [odd, after] of [
        [[0x80], 20],
        [[0xc3, 0xa9], 0],
        [[0xc3, 0xa9], 20],
      ] as const) {
        if (at + odd.length > length) continue;
        const text = Buffer.alloc(length, 'x');
        text.set(odd, at);
        const size = length < 64 ? [length * 2] : [((length * 2) & 0x7f) | 0x80, 1];
        const bytes = Uint8Array.from([...size, ...text, after * 2, ...Buffer.alloc(after, 0xff)]);
        for (const trial of trials) trial.check(bytes);
      }
    }
  }
}

/** Every budget around the values that a datum has, where many of them take no bytes. */
function budgets(random: Seeded, rounds: number): void {
  for (let round = 0; round < rounds; round++) {
    const text = JSON.stringify(randomAvroSchema(random)).replaceAll(/"(?:int|long|string|bytes|double)"/g, '"null"');
    let schema;
    try {
      schema = compileAvro(text);
    } catch (thrown) {
      // A union that has null twice now.
      if (problemOf(thrown).code === 'invalid_request') continue;
      throw thrown;
    }
    const bytes = Uint8Array.from(randomAvroDatum(random, schema.root, 6)).subarray(0, 100);
    for (let more = 0; more < 12; more++) {
      const budget = { maxPayloadBytes: bytes.length + more, maxDepth: 64 };
      new AvroTrial([schema], more % 2 === 0 ? [] : [['a'], ['b']], budget).check(bytes);
    }
  }
}

/** Maps whose entries come again as something else, or with less in them. */
function repeatedKeys(): void {
  const nest = {
    type: 'record',
    name: 'N',
    fields: [{ name: 'a', type: ['null', 'int', { type: 'array', items: 'int' }] }],
  };
  const schema = compileAvro(JSON.stringify({ type: 'map', values: ['null', nest, { type: 'map', values: 'int' }] }));
  const trial = new AvroTrial(
    [schema],
    [
      ['k', 'a'],
      ['k', 'a', 0],
      ['k', 'b'],
      ['l', 'a'],
    ],
    LIMITS,
  );
  const entries = ['00', '0200', '020204', '0204020200', '0400', '0402026104 00', '04020262 0400'];
  for (const first of entries) {
    for (const second of entries) {
      for (const key of ['6b', '6c']) {
        trial.check(Uint8Array.from(Buffer.from(`0202${key}${first}02026b${second}00`.replaceAll(' ', ''), 'hex')));
      }
    }
  }
}

/** Floating-point numbers that are none, or infinite, wanted and not. */
function floats(): void {
  for (const [type, spellings] of [
    ['float', ['0000807f', '000080ff', '0100807f', '0000c07f', 'ffff7f7f', '0000007f']],
    ['double', ['000000000000f07f', '000000000000f0ff', '010000000000f07f', '000000000000f87f', 'ffffffffffffef7f']],
  ] as const) {
    const schema = compileAvro(JSON.stringify(type));
    for (const paths of [[], [[]]]) {
      const trial = new AvroTrial([schema], paths, LIMITS);
      for (const text of spellings) trial.check(Uint8Array.from(Buffer.from(text, 'hex')));
    }
  }
}

/** What a value does not tell: integers beyond ±(2^53−1) are wide. */
function wideIntegers(): void {
  const walker = new AvroWalker([[]], LIMITS, [compileAvro('"long"')]);
  for (const [hex, kind] of [
    ['feffffffffffff1f', SLOT_INTEGER],
    ['8080808080808020', SLOT_INTEGER_WIDE],
    ['fdffffffffffff1f', SLOT_INTEGER],
    ['ffffffffffffff1f', SLOT_NEGATIVE_WIDE],
  ] as const) {
    const reason = walker.walk(Uint8Array.from(Buffer.from(hex, 'hex')), 0, 8);
    if (reason !== NO_REASON || walker.slots.kinds[0] !== kind) throw new Error(`${hex} is not of kind ${kind}`);
  }
}

/** What stands around a payload is not looked at, and the record before it is forgotten. */
function surroundings(random: Seeded, rounds: number): void {
  for (let round = 0; round < rounds; round++) {
    const schemas = [0, 1].map(() => compileAvro(JSON.stringify(randomAvroSchema(random))));
    const trial = new AvroTrial(schemas, randomAvroPaths(random), LIMITS);
    for (let turn = 0; turn < 6; turn++) {
      const payload = randomAvroDatum(random, schemas[turn % 2]!.root);
      const around = random.pick([0x00, 0x01, 0x80, 0xff]);
      const bytes = Uint8Array.from([around, around, ...payload, ...Buffer.alloc(9, around)]);
      trial.check(bytes, 2, 2 + payload.length, turn % 2);
      trial.check(bytes, 2, 2 + random.below(payload.length + 1), turn % 2);
    }
  }
}

runAvroTrials(new Seeded(1), 4000);
damaged(new Seeded(2), 150);
texts();
budgets(new Seeded(4), 1500);
repeatedKeys();
floats();
wideIntegers();
surroundings(new Seeded(3), 500);
console.log('agree');
