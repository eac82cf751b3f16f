/**
 * What compiling a filter may ask of the writer schemas at hand: an interface, because this room knows no schema.
 */
import type { PathShape } from '../codec/schema-shape.js';
import type { Path } from '../core/path.js';

/** A schema, as filters see it. */
export interface KnownSchema {
  /** The codec of payloads that it wrote. */
  readonly family: 'avro' | 'protobuf';
  /** What can stand at a path in them. */
  describe(path: Path): PathShape;
}

/** The schemas that a filter may refer to. */
export interface KnownSchemas {
  /** The schema with an id; undefined where none has it. Throws a `Refusal` where it cannot be compiled. */
  find(id: number): KnownSchema | undefined;
  /** True where an id without a schema is only worth a warning: nothing is going to be read by it. */
  readonly mayLack: boolean;
}
