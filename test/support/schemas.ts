/** Writer schemas as tests use them: sources by id, compiled once, and the decoders that the oracle reads them by. */
import { avroDecoder } from '../../src/codec/avro/decode.js';
import { decodeCbor } from '../../src/codec/cbor/decode.js';
import { decodeJson } from '../../src/codec/json/decode.js';
import { protobufDecoder } from '../../src/codec/protobuf/decode.js';
import { type SchemaSource, schemaHash } from '../../src/codec/schema-source.js';
import type { PayloadDecoders } from '../../src/codec/value.js';
import { compileSchema, type WriterSchema } from '../../src/codec/writer-schema.js';
import type { LoweredFilter } from '../../src/filter/ir.js';

export type Sources = ReadonlyMap<number, SchemaSource>;

export const NO_SOURCES: Sources = new Map();

/** By hash: the corpora give the same few schemas again and again. */
const compiled = new Map<string, WriterSchema>();

export function compiledSchemas(sources: Sources): ReadonlyMap<number, WriterSchema> {
  return new Map([...sources].map(([id, source]) => [id, compiledOnce(source)]));
}

function compiledOnce(source: SchemaSource): WriterSchema {
  const hash = schemaHash(source);
  const schema = compiled.get(hash) ?? compileSchema(source);
  compiled.set(hash, schema);
  return schema;
}

/** The decoders of a filter's codec. */
export function decodersOf({ codec, schemaRefs }: LoweredFilter, sources: Sources): PayloadDecoders {
  if (codec === 'cbor') return decodeCbor;
  if (codec !== 'avro' && codec !== 'protobuf') return decodeJson;
  const schemas = compiledSchemas(sources);
  return new Map(
    schemaRefs.map((id) => {
      const schema = schemas.get(id)!;
      const decode = schema.family === 'avro' ? avroDecoder(schema) : protobufDecoder(schema);
      return [id, { family: schema.family, decode }];
    }),
  );
}
