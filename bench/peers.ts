/**
 * What a Node user would decode binary payloads with: the library of each codec, its decoder made once, 64-bit integers
 * exact. `cbor-x` and `protobufjs` give them so by default (as bigint and `Long`); `avsc` throws for those beyond 2^53,
 * so it is given the bigint type that its documentation shows. The closures of the baseline read what they return.
 *
 * `avsc` and `protobufjs` make code from the schema. None of them is asked to check more than it does by default.
 */
import { decode } from 'cbor-x';
import type { BinaryCodec } from './datasets/orbit-codecs.js';
import { orbitMessage, orbitRecord } from './datasets/orbit-schemas.js';
import type { Json } from './naive.js';

/** Decodes one whole payload; throws for one that is broken. */
export type PeerDecode = (payload: Buffer) => Json;

export interface Peer {
  readonly library: string;
  /** Makes the decoder, under the schema of `orbit` where the codec has schemas. */
  decoder(): PeerDecode;
}

export const PEERS: Record<BinaryCodec, Peer> = {
  cbor: {
    library: 'cbor-x',
    decoder: () => (payload) => decode(payload) as Json,
  },
  avro: {
    library: 'avsc',
    decoder() {
      const type = orbitRecord();
      return (payload) => type.fromBuffer(payload) as Json;
    },
  },
  protobuf: {
    library: 'protobufjs',
    decoder() {
      const type = orbitMessage();
      return (payload) => type.decode(payload) as unknown as Json;
    },
  },
};
