/**
 * What a Protobuf schema says of a path: messages are closed, maps open below (their keys, and what stands under them,
 * are not told). An index fits repeated fields and bytes alone.
 */
import type { Path } from '../../core/path.js';
import type { PathShape, ShapeType } from '../schema-shape.js';
import type { ProtobufField, ProtobufMessage } from './message.js';
import type { ProtobufSchema } from './schema.js';

/** Types of values by types of fields. */
const SHAPE_TYPES: Readonly<Record<ProtobufField['type'], ShapeType>> = {
  double: 'double',
  float: 'double',
  int64: 'integer',
  uint64: 'integer',
  int32: 'integer',
  fixed64: 'integer',
  fixed32: 'integer',
  bool: 'bool',
  string: 'string',
  message: 'object',
  bytes: 'array',
  uint32: 'integer',
  enum: 'integer',
  sfixed32: 'integer',
  sfixed64: 'integer',
  sint32: 'integer',
  sint64: 'integer',
};

/** What can stand at a path in payloads of a schema. */
export function describePath(schema: ProtobufSchema, path: Path): PathShape {
  let message: ProtobufMessage | null = schema.root;
  /** What the path has reached: in a message the field whose value it is; null for the root and single integers. */
  let field: ProtobufField | null = null;
  /** True where it is one element of a repeated field. */
  let isElement = false;
  for (const [step, key] of path.entries()) {
    if (field?.shape === 'map') return typeof key === 'string' ? { kind: 'open' } : missing(step);
    if (field?.shape === 'repeated' && !isElement) {
      if (typeof key !== 'number') return missing(step);
      isElement = true;
      message = field.message;
      continue;
    }
    if (message !== null) {
      const found: ProtobufField | undefined = message.fields.find(({ name }) => name === key);
      if (found === undefined) return { kind: 'closed-missing', step, candidates: message.fields.map(nameOf) };
      field = found;
      isElement = false;
      message = found.shape === 'singular' ? found.message : null;
      continue;
    }
    if (field?.type !== 'bytes' || typeof key !== 'number') return missing(step);
    return step === path.length - 1 ? oneType('integer') : missing(step + 1);
  }
  if (field === null || field.shape === 'map') return oneType('object');
  return oneType(field.shape === 'repeated' && !isElement ? 'array' : SHAPE_TYPES[field.type]);
}

function nameOf({ name }: ProtobufField): string {
  return name;
}

/** The value that is stepped into has nothing that a step could lead to. */
function missing(step: number): PathShape {
  return { kind: 'closed-missing', step, candidates: [] };
}

function oneType(type: ShapeType): PathShape {
  return { kind: 'value', types: new Set([type]) };
}
