/**
 * Binary payloads on one thread: the program over each engine against the library of the codec, decode and closure, on
 * the same payloads with the same selection.
 *
 * The program learns from a record's header block which schema its payload has, so each payload of Avro or Protobuf has
 * the least one behind it, of one entry. The libraries are told beforehand.
 */
import {
  BINARY_CODECS,
  type BinaryCodec,
  hasSchema,
  inCodec,
  orbitInCodec,
  schemaIdHeader,
} from '../datasets/orbit-codecs.js';
import { type FilterDocument, ORBIT_GROUPS, selectivityFilter } from '../datasets/orbit-filters.js';
import { type Case, Checksum, type Engine, once, type Side } from '../harness.js';
import { compileNaive, type NaiveNode, type Utf8Bytes } from '../naive.js';
import { type Payloads, payloadsOf } from '../payloads.js';
import { PEERS } from '../peers.js';
import { ENGINES, programOf } from '../programs.js';
import { bringerOf, stretchesOf } from '../stretches.js';
import { SELECTED, verdictOf } from '../../src/core/verdict.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';

/** What the engine that serves by default has to reach against the library. */
const BARS: Record<BinaryCodec, number> = { cbor: 18, avro: 9, protobuf: 12 };

const TITLES: Record<BinaryCodec, string> = { cbor: 'CBOR', avro: 'Avro', protobuf: 'Protobuf' };

const FILTERS: readonly (readonly [name: string, filter: FilterDocument])[] = [
  ['one payload filter, 5 %', selectivityFilter(5)],
  ['safe mode entered (0.2 %)', ORBIT_GROUPS.find((group) => group.name === 'safe-mode-entered')!.filter],
];

/** `scale` 1 is the real size; the smoke run passes a small fraction. */
export function codecCases(scale: number): Case[] {
  const count = Math.max(50, Math.round(40_000 * scale));
  return BINARY_CODECS.flatMap((codec) => {
    const payloads = once(() => payloadsOf(orbitInCodec(codec), count));
    const size = () => ({ records: count, bytes: payloads().bytes.length });
    return ENGINES.flatMap((engine) =>
      FILTERS.map(([name, filter]): Case => ({
        name: `orbit ${TITLES[codec]}, ${name}`,
        engine,
        size,
        ratio: 'speedup',
        ...(engine === ENGINES[0] ? { bar: BARS[codec] } : {}),
        sides: () => [
          codecSide(engine, codec, payloads(), filter),
          peerSide(codec, payloads(), filter),
          decodeSide(codec, payloads()),
        ],
      })),
    );
  });
}

/** The program of one filter over payloads, each with the header block that names its schema; full validation. */
function codecSide(engine: Engine, codec: BinaryCodec, payloads: Payloads, filter: FilterDocument): Side {
  const program = programOf(engine, inCodec(filter, codec));
  const headers = encodeHeaders(hasSchema(codec) ? [schemaIdHeader(codec)] : []);
  const headerBytes = headers.length;
  const bring = bringerOf(engine, withHeaders(payloads, headers), { headerBytes });
  return {
    name: engine,
    run() {
      const checksum = new Checksum();
      bring((index, bytes, start, end) => {
        const payloadEnd = end - headerBytes;
        program.begin(bytes, start, payloadEnd, payloadEnd, end);
        if (verdictOf(program.evaluate(0)) === SELECTED) checksum.add(index);
      });
      return checksum.value;
    },
  };
}

function withHeaders({ bytes, positions, count }: Payloads, headers: Uint8Array): Payloads {
  const payloads = Array.from({ length: count }, (_, index) => payloadAt(bytes, positions, index));
  return stretchesOf(payloads.map((payload) => Buffer.concat([payload, headers])));
}

/** The library decodes each payload whole; a closure compiled once reads what it made. */
function peerSide(codec: BinaryCodec, { bytes, positions, count }: Payloads, filter: FilterDocument): Side {
  const decode = PEERS[codec].decoder();
  const test = compileNaive(filter.expr as NaiveNode);
  return {
    name: `${PEERS[codec].library} and closure`,
    run() {
      const checksum = new Checksum();
      for (let index = 0; index < count; index++) {
        if (test(decode(payloadAt(bytes, positions, index)))) checksum.add(index);
      }
      return checksum.value;
    },
  };
}

/** The library alone, so that a slow closure cannot inflate a ratio. */
function decodeSide(codec: BinaryCodec, { bytes, positions, count }: Payloads): Side {
  const decode = PEERS[codec].decoder();
  return {
    name: `${PEERS[codec].library} alone`,
    isAside: true,
    run() {
      for (let index = 0; index < count; index++) decode(payloadAt(bytes, positions, index));
      return count;
    },
  };
}

/** The payload as a consumer would have it: its bytes by themselves, not copied. */
function payloadAt(bytes: Utf8Bytes, positions: Int32Array, index: number): Buffer {
  return bytes.subarray(positions[index * 2]!, positions[index * 2 + 1]!);
}
