/**
 * Binary payloads on one thread: the program over each codec's walker against the library of that codec, decode and
 * closure, on the same bytes with the same selection.
 *
 * Walkers of schemas are told by the header block which schema a payload has, so theirs stands behind the payloads: the
 * least one, one for all, read anew for every record. The libraries are told beforehand.
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
import { type Case, Checksum, once, type Side } from '../harness.js';
import { compileNaive, type NaiveNode, type Utf8Bytes } from '../naive.js';
import { type Payloads, payloadsOf } from '../payloads.js';
import { PEERS } from '../peers.js';
import { programOf } from '../programs.js';
import { SELECTED, verdictOf } from '../../src/core/verdict.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';

/** What each walker has to reach against its library. */
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
    return FILTERS.map(([name, filter]): Case => ({
      name: `orbit ${TITLES[codec]}, ${name}`,
      engine: 'walker',
      size,
      ratio: 'speedup',
      bar: BARS[codec],
      sides: () => [
        walkerSide(codec, payloads(), filter),
        peerSide(codec, payloads(), filter),
        decodeSide(codec, payloads()),
      ],
    }));
  });
}

/** The program of one filter over payloads and the header block that they share, full validation. */
function walkerSide(codec: BinaryCodec, payloads: Payloads, filter: FilterDocument): Side {
  const program = programOf('walker', inCodec(filter, codec));
  const { bytes, positions, count, headersStart, headersEnd } = withHeaders(codec, payloads);
  return {
    name: 'walker',
    run() {
      const checksum = new Checksum();
      for (let index = 0; index < count; index++) {
        program.begin(bytes, positions[index * 2]!, positions[index * 2 + 1]!, headersStart, headersEnd);
        if (verdictOf(program.evaluate(0)) === SELECTED) checksum.add(index);
      }
      return checksum.value;
    },
  };
}

function withHeaders(codec: BinaryCodec, { bytes, positions, count }: Payloads) {
  const headers = encodeHeaders(hasSchema(codec) ? [schemaIdHeader(codec)] : []);
  const headersStart = bytes.length;
  const headersEnd = headersStart + headers.length;
  return { bytes: Buffer.concat([bytes, headers]), positions, count, headersStart, headersEnd };
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
