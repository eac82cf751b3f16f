/**
 * `orbit` in the binary codecs: the content of the same JSON records, encoded by the libraries that others encode with.
 *
 * Record `i` says the same in every codec, so one filter selects the same records in all of them. CBOR keeps the order
 * of the keys; Avro and Protobuf have their schema's. Where JSON has null, Avro has null and Protobuf an unset field.
 */
import { Encoder } from 'cbor-x';
import { CONTENT_TYPE_KEY, CONTENT_TYPE_NAMES, SCHEMA_ID_KEY } from '../../src/core/header-value.js';
import type { HeaderInput } from '../../src/segment/header-encode.js';
import type { Dataset } from './dataset.js';
import type { FilterDocument } from './orbit-filters.js';
import { ORBIT_SCHEMA_IDS, orbitMessage, orbitRecord } from './orbit-schemas.js';
import { orbitDataset } from './orbit.js';

export const BINARY_CODECS = ['cbor', 'avro', 'protobuf'] as const;
export type BinaryCodec = (typeof BINARY_CODECS)[number];
export type OrbitCodec = 'json' | BinaryCodec;
export const ORBIT_CODECS: readonly OrbitCodec[] = ['json', ...BINARY_CODECS];

/** The dataset in `codec`, with `agdx.ct` of the codec and, where it has schemas, `agdx.sid`. */
export function orbitInCodec(codec: OrbitCodec, seed = 1): Dataset {
  const orbit = orbitDataset({ seed, typeHeaders: typeHeaders(codec) });
  if (codec === 'json') return orbit;
  const encode = ENCODERS[codec];
  return {
    name: `orbit in ${codec}`,
    record(index) {
      const { payload, headers, timestamp } = orbit.record(index);
      return { payload: encode(contentOf(payload)), headers, timestamp };
    },
  };
}

/** The same filter on records in `codec`. One on headers alone stays as it is. */
export function inCodec(filter: FilterDocument, codec: OrbitCodec): FilterDocument {
  if (filter.codec === 'headers_only') return filter;
  return { ...filter, codec, ...(hasSchema(codec) ? { schema_refs: [ORBIT_SCHEMA_IDS[codec]] } : {}) };
}

/** The header of a schema's id, unsigned as writers write it. */
export function schemaIdHeader(codec: keyof typeof ORBIT_SCHEMA_IDS): HeaderInput {
  return { key: SCHEMA_ID_KEY, value: { kind: 'u32', value: ORBIT_SCHEMA_IDS[codec] } };
}

export function hasSchema(codec: OrbitCodec): codec is keyof typeof ORBIT_SCHEMA_IDS {
  return codec in ORBIT_SCHEMA_IDS;
}

/** The header that carries a code of `agdx.ct`. */
export function contentTypeHeader(code: number): HeaderInput {
  return { key: CONTENT_TYPE_KEY, value: { kind: 'u8', value: code } };
}

function typeHeaders(codec: OrbitCodec): HeaderInput[] {
  const [code] = [...CONTENT_TYPE_NAMES].find(([, name]) => name === codec)!;
  return [contentTypeHeader(code), ...(hasSchema(codec) ? [schemaIdHeader(codec)] : [])];
}

/** A JSON record as plain values, its transaction id exact. */
interface Content {
  readonly source: { txid: bigint };
}

/** A string of the text can hold no such key: its quotes would be escaped. */
const TXID = /"txid":(\d+)/;

function contentOf(payload: Uint8Array): Content {
  const text = Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString();
  const content = JSON.parse(text.replace(TXID, '"txid":"$1"'));
  content.source.txid = BigInt(content.source.txid);
  return content;
}

const cbor = new Encoder({ useRecords: false, variableMapSize: true });

const ENCODERS: Record<BinaryCodec, (content: Content) => Uint8Array> = {
  // The library hands out views of one buffer that it goes on filling.
  cbor: (content) => Buffer.from(cbor.encode(content)),
  avro: (content) => orbitRecord().toBuffer(content),
  protobuf(content) {
    const source = { ...content.source, txid: String(content.source.txid) };
    return orbitMessage()
      .encode(orbitMessage().fromObject({ ...content, source }))
      .finish();
  },
};
