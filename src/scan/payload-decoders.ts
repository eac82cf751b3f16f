/**
 * The decoders that the oracle judges payloads with: filters know them only by interface, as they know the walkers of
 * `program-inputs.ts`. A new codec adds its line here.
 */
import { avroDecoder } from '../codec/avro/decode.js';
import { decodeCbor } from '../codec/cbor/decode.js';
import { decodeJson } from '../codec/json/decode.js';
import { protobufDecoder } from '../codec/protobuf/decode.js';
import type { Decoded, PayloadDecoder, PayloadDecoders, SchemaDecoder } from '../codec/value.js';
import type { WriterSchema } from '../codec/writer-schema.js';
import type { LoweredFilter } from '../filter/ir.js';
import type { SeenSchemas } from './schema-shelf.js';

/**
 * Gives filters of one request their decoders. A record is decoded once by each codec and schema, however often and for
 * whichever filter it is asked.
 */
export function sharedDecoders(schemas: SeenSchemas): (filter: LoweredFilter) => PayloadDecoders {
  const json = decodingOnce(decodeJson);
  const cbor = decodingOnce(decodeCbor);
  const byId = new Map<number, SchemaDecoder>();
  const bySchema = (id: number): SchemaDecoder => {
    const known = byId.get(id);
    if (known !== undefined) return known;
    // Ids that stand for nothing were refused when the filter was compiled.
    const { family, schema } = schemas.find(id)!;
    const decoder = { family, decode: decodingOnce(decoderOf(schema)) };
    byId.set(id, decoder);
    return decoder;
  };
  return ({ codec, schemaRefs }) => {
    if (codec === 'cbor') return cbor;
    return codec === 'avro' || codec === 'protobuf' ? new Map(schemaRefs.map((id) => [id, bySchema(id)])) : json;
  };
}

function decoderOf(schema: WriterSchema): PayloadDecoder {
  return schema.family === 'avro' ? avroDecoder(schema) : protobufDecoder(schema);
}

/**
 * A decoder that decodes each record once, however often it is asked: judging and explaining a record, or judging it
 * for two filters, look at the same payload, and the obvious decoder takes up to 300 ms for the largest. `payload` is
 * told apart by identity.
 */
export function decodingOnce(decode: PayloadDecoder): PayloadDecoder {
  let last: Uint8Array | undefined;
  let decoded: Decoded | undefined;
  return (payload, limits) => {
    if (payload !== last || decoded === undefined) decoded = decode(payload, limits);
    last = payload;
    return decoded;
  };
}
