/**
 * What a writer schema says of a path before any datum is seen (`schema-shape.ts`). Records are closed. A map has any
 * key, and what stands under it is what the map's values are, so that nothing of an Avro schema is ever `open`.
 *
 * A union stands for all its branches: a path leads somewhere if it does in one of them.
 */
import type { Path } from '../../core/path.js';
import type { PathShape, ShapeType } from '../schema-shape.js';
import type { AvroSchema, AvroType } from './schema.js';

const SHAPES = {
  null: 'null',
  boolean: 'bool',
  int: 'integer',
  long: 'integer',
  float: 'double',
  double: 'double',
  string: 'string',
  enum: 'string',
  bytes: 'array',
  fixed: 'array',
  array: 'array',
  map: 'object',
  record: 'object',
} as const satisfies Record<string, ShapeType>;

const BYTE: AvroType = { kind: 'int' };

/** What can stand at `path`; linear in the branches met on the way. Never `open`. */
export function describePath(schema: AvroSchema, path: Path): PathShape {
  let types = branchesOf([schema.root]);
  for (const [step, key] of path.entries()) {
    const inner = branchesOf(types.flatMap((type) => at(type, key)));
    if (inner.length === 0)
      return { kind: 'closed-missing', step, candidates: typeof key === 'string' ? keysOf(types) : [] };
    types = inner;
  }
  return { kind: 'value', types: new Set(types.map((type) => SHAPES[type.kind as keyof typeof SHAPES])) };
}

/** The types, each once, with every union's branches in its place; none for a union without branches. */
function branchesOf(types: readonly AvroType[]): AvroType[] {
  return [...new Set(types.flatMap((type) => (type.kind === 'union' ? type.branches : [type])))];
}

/** What stands at one step into a value of a type: nothing, or one type. */
function at(type: AvroType, step: string | number): AvroType[] {
  if (typeof step === 'string') {
    if (type.kind === 'map') return [type.values];
    if (type.kind !== 'record') return [];
    return type.fields.filter(({ name }) => name === step).map((field) => field.type);
  }
  if (type.kind === 'array') return [type.items];
  return type.kind === 'bytes' || (type.kind === 'fixed' && step < type.size) ? [BYTE] : [];
}

function keysOf(types: readonly AvroType[]): string[] {
  return [...new Set(types.flatMap((type) => (type.kind === 'record' ? type.fields.map(({ name }) => name) : [])))];
}
