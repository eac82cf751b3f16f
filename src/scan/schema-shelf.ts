/**
 * The writer schemas of one worker: those of the registry, and those that requests bring (contract: scan-protocol §1
 * `schemas`, "Before the first byte").
 *
 * A schema is compiled when it is first asked for and kept: the registry's for the worker's life, a request's as long as
 * there is room, by its hash, because groups send the same ones with every request.
 *
 * Invariants: an id stands for one schema; a refusal points at the schema in the request, and says of the registry only
 * the id.
 */
import { type IdentifiedSchema, schemaHash, type SchemaSource } from '../codec/schema-source.js';
import { compileSchema, describeSchemaPath, type WriterSchema } from '../codec/writer-schema.js';
import { type Problem, Refusal, refuse } from '../core/error-codes.js';
import { SCHEMAS_CACHED_BYTES_MAX, SCHEMAS_PER_SCAN_MAX } from '../core/limits.js';
import type { Path } from '../core/path.js';
import type { PathShape } from '../codec/schema-shape.js';
import type { KnownSchema } from '../filter/known-schemas.js';
import { RecentlyUsed } from './recently-used.js';
import type { SchemaSpec } from './task.js';

/** A compiled schema, as filters ask it and as programs read by it. */
export class ShelvedSchema implements KnownSchema {
  readonly hash: string;
  readonly schema: WriterSchema;

  constructor(hash: string, schema: WriterSchema) {
    this.hash = hash;
    this.schema = schema;
  }

  get family(): WriterSchema['family'] {
    return this.schema.family;
  }

  describe(path: Path): PathShape {
    return describeSchemaPath(this.schema, path);
  }
}

/** The schemas that one request sees: its own and the registry's. */
export interface SeenSchemas {
  /** The schema with an id, or undefined. */
  find(id: number): ShelvedSchema | undefined;
  /** Equal for requests of one worker that see the same schemas. */
  readonly key: string;
}

interface Registered extends IdentifiedSchema {
  compiled?: ShelvedSchema;
}

export class SchemaShelf {
  private readonly registered: ReadonlyMap<number, Registered>;
  private readonly brought = new RecentlyUsed<ShelvedSchema>(SCHEMAS_PER_SCAN_MAX, SCHEMAS_CACHED_BYTES_MAX);

  constructor(registered: readonly IdentifiedSchema[]) {
    this.registered = new Map(registered.map((schema) => [schema.id, { ...schema }]));
  }

  /**
   * Compiles what a request brings. Throws `invalid_request` at the member of `/schemas/i/source` that does not compile,
   * `conflict` at `/schemas/i/id` for an id that the registry holds with other bytes.
   */
  seenBy(specs: readonly SchemaSpec[]): SeenSchemas {
    const own = new Map<number, ShelvedSchema>();
    specs.forEach(({ id, source, bytes }, index) => {
      const field = `/schemas/${index}`;
      const hash = schemaHash(source);
      const held = this.registered.get(id);
      if (held !== undefined && held.hash !== hash) {
        refuse('conflict', `The registry holds another schema with the id ${id}.`, { field: `${field}/id`, given: id });
      }
      own.set(
        id,
        held === undefined ? this.compile(hash, source, bytes, `${field}/source`) : this.compileRegistered(held),
      );
    });
    return {
      find: (id) => own.get(id) ?? this.find(id),
      key: JSON.stringify([...own].map(([id, { hash }]) => [id, hash])),
    };
  }

  /** Compiles one schema of the registry; throws what is wrong with it, about the schema alone. */
  check(id: number): void {
    const held = this.registered.get(id);
    if (held === undefined) refuse('not_found', `There is no schema with the id ${id}.`);
    this.compileRegistered(held);
  }

  private find(id: number): ShelvedSchema | undefined {
    const held = this.registered.get(id);
    return held && this.compileRegistered(held);
  }

  private compileRegistered(held: Registered): ShelvedSchema {
    return (held.compiled ??= new ShelvedSchema(held.hash, compileSchema(held.source)));
  }

  private compile(hash: string, source: SchemaSource, bytes: number, field: string): ShelvedSchema {
    const known = this.brought.get(hash);
    if (known !== undefined) return known;
    try {
      const compiled = new ShelvedSchema(hash, compileSchema(source));
      this.brought.set(hash, compiled, bytes);
      return compiled;
    } catch (thrown) {
      if (thrown instanceof Refusal) throw new Refusal(inRequest(thrown.problem, source, field));
      throw thrown;
    }
  }
}

/** The problem of a source as one of the member of a request that holds it; the place inside stays in its words. */
function inRequest(problem: Problem, { kind }: SchemaSource, field: string): Problem {
  const { field: inner = '', ...rest } = problem;
  const place = inner === '' || problem.detail.includes(inner) ? '' : ` (at ${inner} in the schema)`;
  const [first, ...lines] = problem.detail.split('\n');
  return {
    ...rest,
    detail: [`${first}${place}`, ...lines].join('\n'),
    field: `${field}/${kind === 'avro' ? 'schema' : 'descriptor_set'}`,
  };
}
