/**
 * `orbit` in the binary codecs says what its JSON says, and the mixed log is made of it. Runs where code may be
 * generated, for the libraries that encode it.
 */
import { createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import type { Dataset } from '../../bench/datasets/dataset.js';
import { mixedDataset, OPAQUE_CODES } from '../../bench/datasets/mixed.js';
import { BINARY_CODECS, ORBIT_CODECS, orbitInCodec } from '../../bench/datasets/orbit-codecs.js';
import { ORBIT_MESSAGE, ORBIT_SCHEMA_IDS, orbitDescriptorSet } from '../../bench/datasets/orbit-schemas.js';
import { orbitDataset } from '../../bench/datasets/orbit.js';
import { PEERS } from '../../bench/peers.js';
import { decodeHeaderBlock, textHeaders } from '../../src/segment/header-block.js';

const COUNT = 2000;
const orbit = orbitDataset();

function headersOf(dataset: Dataset, index: number) {
  const { headers } = dataset.record(index);
  return [...textHeaders(decodeHeaderBlock(headers, 0, headers.length)!)].map(
    ([key, header]) => `${key} ${header.kind} ${String(header.value)}`,
  );
}

/** As JSON text, in which integers beyond 2^53 are decimal strings and what is unset is left out. */
function shown(value: unknown, isNullLeftOut: boolean): string {
  return JSON.stringify(value, (_, at: unknown) => {
    if (at === null && isNullLeftOut) return undefined;
    return typeof at === 'bigint' ? String(at) : at;
  });
}

/** Keys in the order of the alphabet, below the root too. */
function sorted(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, at]) => [key, sorted(at)]),
  );
}

function jsonContent(index: number): unknown {
  return JSON.parse(
    Buffer.from(orbit.record(index).payload)
      .toString()
      .replace(/"txid":(\d+)/, '"txid":"$1"'),
  );
}

describe.each(BINARY_CODECS)('orbit in %s', (codec) => {
  const dataset = orbitInCodec(codec);
  const decode = PEERS[codec].decoder();

  it('says in every record what its JSON says', () => {
    for (let index = 0; index < COUNT; index++) {
      const { payload } = dataset.record(index);
      let decoded: unknown = decode(Buffer.from(payload));
      // Members that are not on the wire are not the message's own.
      if (codec === 'protobuf') decoded = withDefaults(decoded);
      const isNullLeftOut = codec === 'protobuf';
      expect(shown(sorted(decoded), isNullLeftOut), `record ${index}`).toBe(
        shown(sorted(jsonContent(index)), isNullLeftOut),
      );
    }
  });

  it('carries the headers of orbit behind those that say what it is', () => {
    const code = { cbor: 3, avro: 5, protobuf: 6 }[codec];
    const schema = codec === 'cbor' ? [] : [`agdx.sid uint ${ORBIT_SCHEMA_IDS[codec]}`];
    expect(headersOf(dataset, 7)).toEqual([`agdx.ct uint ${code}`, ...schema, ...headersOf(orbit, 7).slice(1)]);
    expect(dataset.record(7).timestamp).toBe(orbit.record(7).timestamp);
  });

  it('is the same for the same seed in any order, and another for another', () => {
    const again = orbitInCodec(codec);
    for (const index of [777, 3, 12_345, 0]) expect(again.record(index)).toEqual(dataset.record(index));
    expect(orbitInCodec(codec, 2).record(3).payload).not.toEqual(dataset.record(3).payload);
  });
});

/** A decoded message with the members it has at their defaults. */
function withDefaults(message: unknown): unknown {
  if (message === null || typeof message !== 'object' || Array.isArray(message) || 'low' in message) {
    return message !== null && typeof message === 'object' && 'low' in message ? String(message) : message;
  }
  const type = (message as { $type: { fieldsArray: { name: string }[] } }).$type;
  return Object.fromEntries(
    type.fieldsArray.map(({ name }) => [name, withDefaults((message as Record<string, unknown>)[name])]),
  );
}

it('CBOR keeps the varied key order of JSON', () => {
  const decode = PEERS.cbor.decoder();
  const dataset = orbitInCodec('cbor');
  for (let index = 0; index < 200; index++) {
    const keys = Object.keys(decode(Buffer.from(dataset.record(index).payload)) as object);
    expect(keys).toEqual(Object.keys(jsonContent(index) as object));
  }
});

it('the descriptor set of the Protobuf schema stands by itself', () => {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, orbitDescriptorSet()));
  const message = registry.getMessage(ORBIT_MESSAGE)!;
  const payload = orbitInCodec('protobuf').record(5).payload;
  const read = fromBinary(message, payload) as unknown as Record<string, Record<string, unknown>>;
  const written = jsonContent(5) as Record<string, Record<string, unknown>>;
  expect(read['remark']).toBe(written['remark']);
  expect(String(read['source']!['txid'])).toBe(written['source']!['txid']);
  expect(read['after']!['stations']).toEqual(written['after']!['stations']);
});

describe('the mixed log', () => {
  const mixed = mixedDataset();

  it('holds each form as often as it says, every record as orbit has it in that codec', () => {
    const datasets = new Map(ORBIT_CODECS.map((codec) => [codec, orbitInCodec(codec)]));
    const counts = new Map<unknown, number>();
    for (let index = 0; index < COUNT; index++) {
      const form = mixed.formOf(index);
      counts.set(form, (counts.get(form) ?? 0) + 1);
      if (typeof form !== 'number') expect(mixed.record(index)).toEqual(datasets.get(form)!.record(index));
    }
    const shares = [...ORBIT_CODECS, ...OPAQUE_CODES].map((form) => ((counts.get(form) ?? 0) * 100) / COUNT);
    for (const [place, share] of [40, 20, 15, 15, 4, 4, 2].entries()) {
      expect(Math.abs(shares[place]! - share)).toBeLessThan(2.5);
    }
  });

  it('holds opaque bytes that no codec reads, under codes that name none of them', () => {
    const seen = new Set<unknown>();
    for (let index = 0; index < COUNT; index++) {
      const form = mixed.formOf(index);
      if (typeof form !== 'number') continue;
      seen.add(form);
      const payload = Buffer.from(mixed.record(index).payload);
      expect(headersOf(mixed, index)[0]).toBe(`agdx.ct uint ${form}`);
      expect(() => JSON.parse(payload.toString())).toThrow();
      for (const codec of BINARY_CODECS) {
        const decode = PEERS[codec].decoder();
        expect(() => decode(payload), codec).toThrow();
      }
    }
    expect([...seen].sort()).toEqual([0, 2, 255]);
  });

  it('is the same for the same seed in any order, and another for another', () => {
    const again = mixedDataset();
    for (const index of [777, 3, 1234, 0]) expect(again.record(index)).toEqual(mixed.record(index));
    const forms = (seed: number) => Array.from({ length: 50 }, (_, index) => mixedDataset(seed).formOf(index));
    expect(forms(2)).not.toEqual(forms(1));
  });
});
