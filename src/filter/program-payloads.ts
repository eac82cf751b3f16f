/**
 * Where a program's leaves read payloads: which walkers there are, over which paths and schemas, and which filters share
 * one (laser-filter §4).
 *
 * A payload is walked once per record and codec, whoever asks; filters of one codec that allow other schema ids stand
 * against different records, so each set of ids has a source of its own over the shared walker.
 */
import type { SchemaFamily } from '../codec/value.js';
import { comparePaths, type Path } from '../core/path.js';
import { forEachLeaf, type LoweredFilter } from './ir.js';
import { needleGateOf } from './needles.js';
import type { FamilySchema, ProgramDeps } from './program-deps.js';
import { type ProgramRecord, SchemaWalk, SlotSource } from './program-record.js';

export interface Payload {
  readonly source: SlotSource;
  /** Slots by `pathKey`. */
  readonly slots: ReadonlyMap<string, number>;
}

/** Two paths with the same key are the same. */
export function pathKey(path: Path): string {
  return JSON.stringify(path);
}

/** Filters with the same key read the payload from the same source. */
export function payloadKey({ codec, schemaRefs }: LoweredFilter): string {
  return `${codec} ${schemaRefs.join(' ')}`;
}

/** One walker per codec that some filter reads, over the union of the paths read under it; one source per `payloadKey`. */
export function payloadSources<Schema extends FamilySchema>(
  filters: readonly LoweredFilter[],
  record: ProgramRecord,
  deps: ProgramDeps<Schema>,
  schemas: ReadonlyMap<number, Schema>,
  isGated: boolean,
): ReadonlyMap<string, Payload> {
  const payloads = new Map<string, Payload>();
  for (const codec of new Set(filters.map((filter) => filter.codec))) {
    if (codec === 'headers_only') continue;
    const readers = filters.filter((filter) => filter.codec === codec);
    const paths = wantedPaths(readers);
    const slots = new Map(paths.map((path, slot) => [pathKey(path), slot]));
    if (codec === 'json' || codec === 'cbor') {
      const walker = deps.makeWalker(codec, paths, deps.limits, isGated ? needleGateOf(readers) : null);
      payloads.set(payloadKey(readers[0]!), { source: new SlotSource(record, walker.slots, walker, codec), slots });
      continue;
    }
    const walk = schemaWalk(codec, readers, paths, record, deps, schemas);
    for (const reader of readers) {
      const ids = new Set(reader.schemaRefs);
      const source = new SlotSource(record, walk.walker.slots, walk.walker, codec, { walk, ids });
      if (!payloads.has(payloadKey(reader))) payloads.set(payloadKey(reader), { source, slots });
    }
  }
  return payloads;
}

function schemaWalk<Schema extends FamilySchema>(
  codec: SchemaFamily,
  readers: readonly LoweredFilter[],
  paths: readonly Path[],
  record: ProgramRecord,
  deps: ProgramDeps<Schema>,
  schemas: ReadonlyMap<number, Schema>,
): SchemaWalk {
  const family: Schema[] = [];
  const places = new Map<number, number>();
  for (const id of new Set(readers.flatMap(({ schemaRefs }) => schemaRefs))) {
    const schema = schemas.get(id);
    if (schema === undefined) throw new Error(`no writer schema ${id} was given`);
    places.set(id, schema.family === codec ? family.push(schema) - 1 : -1);
  }
  const walker = deps.makeSchemaWalker(codec, paths, deps.limits, family);
  return new SchemaWalk(record, walker, deps.limits.maxPayloadBytes, places);
}

function wantedPaths(filters: readonly LoweredFilter[]): Path[] {
  const paths: Path[] = [];
  for (const { root } of filters) {
    forEachLeaf(root, ({ source }) => {
      if (source.from === 'payload') paths.push(source.path);
    });
  }
  paths.sort(comparePaths);
  return paths.filter((path, index) => index === 0 || comparePaths(paths[index - 1]!, path) !== 0);
}
