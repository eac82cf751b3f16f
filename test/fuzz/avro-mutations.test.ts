/**
 * The Avro walker on damaged data: cut at every byte, with bytes changed, and with counts that promise more than any
 * buffer holds. It says what the decoder says of each, and allocates nothing ahead of the bytes.
 */
import { describe, expect, it } from 'vitest';
import { avroDecoder } from '../../src/codec/avro/decode.js';
import { compileAvro } from '../../src/codec/avro/schema.js';
import { AvroWalker } from '../../src/codec/avro/walker.js';
import { MALFORMED, NO_REASON, type Reason, TOO_DEEP, TOO_LARGE } from '../../src/core/verdict.js';
import { FUZZ_SUITE, fuzzScale, fuzzSeed } from '../support/fuzz-mode.js';
import { randomAvroDatum, randomAvroSchema } from '../support/random-avro.js';
import { AvroTrial, randomAvroPaths } from '../support/random-avro-trial.js';
import { Seeded } from '../support/seeded.js';

const SEED = fuzzSeed(51);
const PAYLOADS = fuzzScale(400, 20_000);
const PAYLOAD_BYTES_MAX = 300;
const CHANGES = 60;
/** Bytes that mean something: small counts, ends of varints, signs, breaks of UTF-8. */
const TELLING_BYTES = [0, 1, 2, 3, 4, 0x0f, 0x10, 0x7e, 0x7f, 0x80, 0x81, 0xbf, 0xc0, 0xc3, 0xed, 0xf0, 0xfe, 0xff];
const LIMITS = { maxPayloadBytes: PAYLOAD_BYTES_MAX, maxDepth: 8 };

describe('damaged data', FUZZ_SUITE, () => {
  it(`cut anywhere or changed in one byte are judged as the decoder judges them (seed ${SEED})`, () => {
    const random = new Seeded(SEED);
    const seen = new Map<Reason, number>();
    for (let payloads = 0; payloads < PAYLOADS;) {
      const schema = compileAvro(JSON.stringify(randomAvroSchema(random)));
      const bytes = Uint8Array.from(randomAvroDatum(random, schema.root, 6));
      if (bytes.length === 0 || bytes.length > PAYLOAD_BYTES_MAX) continue;
      payloads++;
      const trial = new AvroTrial([schema], randomAvroPaths(random), LIMITS);
      const check = (end: number) => {
        const reason = trial.check(bytes, 0, end);
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
      };
      for (let end = bytes.length; end >= 0; end--) check(end);
      for (let change = 0; change < CHANGES; change++) {
        const at = random.below(bytes.length);
        const before = bytes[at]!;
        bytes[at] = random.chance(0.7) ? random.pick(TELLING_BYTES) : random.below(256);
        check(bytes.length);
        bytes[at] = before;
      }
    }
    for (const reason of [NO_REASON, MALFORMED, TOO_LARGE, TOO_DEEP] as const)
      expect(seen.get(reason)).toBeGreaterThan(100);
  });
});

describe('counts without bytes behind them', () => {
  const limits = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
  /** 50 million items, in four bytes and the one after. */
  const HOSTILE = Uint8Array.from(Buffer.from('80e2d72f00', 'hex'));
  const EMPTY = { type: 'record', name: 'Empty', fields: [] };

  it.each(['null', 'int', 'string', 'bytes', EMPTY, { type: 'array', items: 'null' }])(
    'of %j take no memory',
    (items) => {
      for (const schema of [
        { type: 'array', items },
        { type: 'map', values: items },
      ]) {
        const compiled = compileAvro(JSON.stringify(schema));
        const walker = new AvroWalker([[], [0], ['a']], limits, [compiled]);
        const decode = avroDecoder(compiled);
        globalThis.gc!();
        const before = process.memoryUsage();
        expect(walker.walk(HOSTILE, 0, HOSTILE.length)).toBe(TOO_LARGE);
        expect(decode(HOSTILE, limits)).toEqual({ ok: false, reason: TOO_LARGE });
        const after = process.memoryUsage();
        expect(after.heapUsed - before.heapUsed).toBeLessThan(1 << 20);
        expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(1 << 20);
      }
    },
  );

  it.each(['bytes', 'string'])('of a length of %s take no memory', (type) => {
    const compiled = compileAvro(JSON.stringify(type));
    const walker = new AvroWalker([[]], limits, [compiled]);
    globalThis.gc!();
    const before = process.memoryUsage();
    expect(walker.walk(HOSTILE, 0, HOSTILE.length)).toBe(MALFORMED);
    expect(avroDecoder(compiled)(HOSTILE, limits)).toEqual({ ok: false, reason: MALFORMED });
    expect(process.memoryUsage().heapUsed - before.heapUsed).toBeLessThan(1 << 20);
  });

  it('as many as the budget allows are gone through in no time', () => {
    const compiled = compileAvro(JSON.stringify({ type: 'array', items: EMPTY }));
    const walker = new AvroWalker([[999_999]], limits, [compiled]);
    // One million items and their array, in five bytes.
    const bytes = Uint8Array.from(Buffer.from('80897a00', 'hex'));
    const started = performance.now();
    for (let round = 0; round < 20; round++) expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
