/**
 * The mixed log on one thread: four filters that say the same, one for each codec, in one pass over frames, headers and
 * payloads, against the library of each record's codec and one closure.
 *
 * The baseline is told where the payloads stand and what each is; opaque ones it passes over. No bar is set for it.
 */
import { mixedDataset } from '../datasets/mixed.js';
import { inCodec, ORBIT_CODECS, type OrbitCodec } from '../datasets/orbit-codecs.js';
import { selectivityFilter } from '../datasets/orbit-filters.js';
import { segmentBytes } from '../datasets/write.js';
import { framesSide } from '../frames.js';
import { type Case, Checksum, once, type Side } from '../harness.js';
import { compileNaive, type Json, type NaiveNode, type Utf8Bytes } from '../naive.js';
import { PEERS } from '../peers.js';
import { ENGINES } from '../programs.js';

const FILTER = selectivityFilter(5);

/** `scale` 1 is the real size; the smoke run passes a small fraction. */
export function mixedCases(scale: number): Case[] {
  const records = Math.max(50, Math.round(40_000 * scale));
  const segment = once(() => segmentBytes(mixedDataset(), 'iggy', records));
  return ENGINES.map((engine): Case => ({
    name: 'mixed log, a filter for each codec on frames, against their libraries',
    engine,
    size: () => ({ records, bytes: segment().length }),
    ratio: 'speedup',
    sides: () => [
      framesSide(engine, engine, segment(), ...ORBIT_CODECS.map((codec) => inCodec(FILTER, codec))),
      librariesSide(records),
    ],
  }));
}

interface Readable {
  readonly index: number;
  readonly payload: Utf8Bytes;
  readonly codec: OrbitCodec;
}

function librariesSide(records: number): Side {
  const readable = readableOf(records);
  const test = compileNaive(FILTER.expr as NaiveNode);
  const decoders = decodersByCodec();
  return {
    name: 'libraries and closure',
    run() {
      const checksum = new Checksum();
      for (const { index, payload, codec } of readable) if (test(decoders[codec](payload))) checksum.add(index);
      return checksum.value;
    },
  };
}

function readableOf(records: number): Readable[] {
  const log = mixedDataset();
  return Array.from({ length: records }, (_, index) => index).flatMap((index): Readable[] => {
    const codec = log.formOf(index);
    return typeof codec === 'number'
      ? []
      : [{ index, payload: Buffer.from(log.record(index).payload) as Utf8Bytes, codec }];
  });
}

function decodersByCodec(): Record<OrbitCodec, (payload: Utf8Bytes) => Json> {
  return {
    json: (payload) => JSON.parse(payload.utf8Slice(0, payload.length)) as Json,
    cbor: PEERS.cbor.decoder(),
    avro: PEERS.avro.decoder(),
    protobuf: PEERS.protobuf.decoder(),
  };
}
