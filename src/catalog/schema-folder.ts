/**
 * The registry of writer schemas: a folder that is read once, when the service starts (config/README.md "Writer
 * schemas"; contract: scan-protocol §1 `schemas`).
 *
 * Invariants: nothing is read by guess (a link, another kind of file, another name refuse), within bounds on number and
 * bytes; an id stands for one schema for ever: `ids.json` keeps the hash of every id that was added, also of one whose
 * file is gone, and a file with another hash refuses. Whether a schema compiles is found out in a worker.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import { type IdentifiedSchema, schemaBytes, schemaHash, type SchemaSource } from '../codec/schema-source.js';
import { Refusal, refuse } from '../core/error-codes.js';
import { readJsonBytes } from '../core/exact-json.js';
import { SCHEMA_BYTES_MAX, SCHEMA_REGISTRY_BYTES_MAX, SCHEMA_REGISTRY_COUNT_MAX } from '../core/limits.js';
import { type PlainJson, plainJson } from '../core/plain-json.js';
import { readSchemaFileName, type SchemaFileName, schemaFileName } from './schema-file.js';

/** A schema of the registry. */
export interface RegisteredSchema extends IdentifiedSchema {
  /** Its file, without the folder. */
  readonly file: string;
  /** What people call an Avro schema. */
  readonly name?: string;
  readonly bytes: number;
}

/** Records what each id stands for. Its lock is written in its place, so that of two commands one gives way. */
const IDS_FILE = 'ids.json';
const IDS_LOCK = 'ids.json.tmp';

/** A record is a hash and some digits; an id may outlive its file, so there may be more records than schemas. */
const IDS_BYTES_MAX = 1024 * 1024;

/**
 * Reads a registry, in the order of ids. Throws a `Refusal`, whose detail names the file: `not_found` for a folder or
 * file that cannot be read, `invalid_request` for what does not belong there, `too_large` past a bound, `conflict` for an
 * id that two files have and for a file that differs from its record.
 */
export function readSchemaFolder(folder: string): readonly RegisteredSchema[] {
  const files = filesOf(folder);
  const records = readRecords(folder);
  const byId = new Map<number, RegisteredSchema>();
  let bytes = 0;
  for (const file of files) {
    const name = readSchemaFileName(file);
    const schema = readSchema(folder, file, name);
    bytes += schema.bytes;
    if (bytes > SCHEMA_REGISTRY_BYTES_MAX) {
      refuse('too_large', `${folder} holds more than ${SCHEMA_REGISTRY_BYTES_MAX} bytes of schemas.`, {
        limit: SCHEMA_REGISTRY_BYTES_MAX,
        given: bytes,
      });
    }
    const other = byId.get(schema.id);
    if (other !== undefined) refuse('conflict', `${file}: ${other.file} has the id ${schema.id} too.`);
    const recorded = records.get(schema.id);
    if (recorded !== undefined && recorded !== schema.hash) {
      refuse(
        'conflict',
        `${file}: ${IDS_FILE} records another schema for the id ${schema.id}; a change needs a new id.`,
      );
    }
    byId.set(schema.id, schema);
  }
  return [...byId.values()].toSorted((a, b) => a.id - b.id);
}

/**
 * Adds a schema under an id, once `isGood` has found that it compiles. Resolves with its file and whether it is new:
 * the same schema under the same id is there already. Throws what {@link readSchemaFolder} throws, `conflict` for an id
 * that stands, or once stood, for another schema, and what `isGood` throws.
 */
export async function addSchema(
  folder: string,
  id: number,
  source: SchemaSource,
  name: string | undefined,
  isGood: (schema: IdentifiedSchema) => Promise<void>,
): Promise<{ readonly file: string; readonly isNew: boolean }> {
  const file = schemaFileName(id, source, name);
  const lock = join(folder, IDS_LOCK);
  const descriptor = openLock(folder, lock);
  try {
    const known = readSchemaFolder(folder).find((schema) => schema.id === id);
    const records = readRecords(folder);
    const hash = schemaHash(source);
    const taken = known?.hash ?? records.get(id);
    if (taken !== undefined && taken !== hash) {
      refuse('conflict', `The id ${id} stands for another schema${known === undefined ? '' : ` (${known.file})`}.`);
    }
    await isGood({ id, hash, source });
    if (known === undefined) writeNew(join(folder, file), schemaBytes(source));
    records.set(id, hash);
    const ids = Object.fromEntries([...records].toSorted(([a], [b]) => a - b));
    writeFileSync(descriptor, `${JSON.stringify(ids, null, 2)}\n`);
    fsyncSync(descriptor);
    renameSync(lock, join(folder, IDS_FILE));
    return { file: known?.file ?? file, isNew: known === undefined };
  } catch (thrown) {
    unlinkSync(lock);
    throw thrown;
  } finally {
    closeSync(descriptor);
  }
}

function openLock(folder: string, lock: string): number {
  try {
    return openSync(lock, 'wx', 0o644);
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') {
      refuse('conflict', `Another schema is being added to ${folder}; if not, remove ${lock}.`);
    }
    return refuse('not_found', `${folder} cannot be written: ${codeOf(thrown)}.`);
  }
}

function writeNew(path: string, bytes: Uint8Array): void {
  const descriptor = openSync(path, 'wx', 0o644);
  try {
    writeFileSync(descriptor, bytes);
    fsyncSync(descriptor);
  } catch (thrown) {
    unlinkSync(path);
    throw thrown;
  } finally {
    closeSync(descriptor);
  }
}

/** The files that are to be schemas, in the order of their names. */
function filesOf(folder: string): string[] {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (thrown) {
    return refuse('not_found', `The folder of schemas ${folder} cannot be read: ${codeOf(thrown)}.`);
  }
  const files: string[] = [];
  for (const entry of entries) {
    if (entry.name === IDS_FILE || entry.name === IDS_LOCK) continue;
    if (!entry.isFile())
      refuse('invalid_request', `${entry.name} is no plain file: links and folders are not followed.`);
    files.push(entry.name);
  }
  if (files.length > SCHEMA_REGISTRY_COUNT_MAX) {
    refuse('too_large', `${folder} holds more than ${SCHEMA_REGISTRY_COUNT_MAX} schemas.`, {
      limit: SCHEMA_REGISTRY_COUNT_MAX,
      given: files.length,
    });
  }
  return files.sort();
}

function readSchema(folder: string, file: string, name: SchemaFileName): RegisteredSchema {
  const bytes = readBounded(folder, file, SCHEMA_BYTES_MAX);
  const source = sourceOf(bytes, name, file);
  return {
    id: name.id,
    hash: schemaHash(source),
    source,
    file,
    bytes: bytes.byteLength,
    ...(name.kind === 'avro' && name.name !== undefined ? { name: name.name } : {}),
  };
}

/** What the bytes of a schema are, by its kind. Refuses `invalid_request` text that is not UTF-8. */
export function sourceOf(
  bytes: Uint8Array,
  name: { readonly kind: SchemaSource['kind']; readonly messageType?: string },
  file: string,
): SchemaSource {
  const { kind, messageType = '' } = name;
  if (kind === 'protobuf') return { kind, descriptorSet: Uint8Array.from(bytes), messageType };
  if (!isUtf8(bytes)) refuse('invalid_request', `${file} is not UTF-8.`);
  const text = Buffer.from(bytes).toString('utf8');
  return kind === 'avro' ? { kind, schema: text } : { kind, text, messageType };
}

/** The recorded hashes by id; none where nothing was ever added. */
function readRecords(folder: string): Map<number, string> {
  let bytes: Uint8Array;
  try {
    bytes = readBounded(folder, IDS_FILE, IDS_BYTES_MAX);
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.problem.given === 'ENOENT') return new Map();
    throw thrown;
  }
  const records = new Map<number, string>();
  for (const [id, hash] of Object.entries(membersOf(bytes))) {
    if (!/^(?:0|[1-9][0-9]{0,9})$/.test(id) || typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash))
      refuseRecords();
    else records.set(Number(id), hash);
  }
  return records;
}

function membersOf(bytes: Uint8Array): { readonly [key: string]: PlainJson } {
  try {
    const document = readJsonBytes(bytes);
    const value = plainJson(document, document.root);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
  }
  return refuseRecords();
}

function refuseRecords(): never {
  refuse('invalid_request', `${IDS_FILE} is not {"ID": "HASH", …} as "winnow schema add" writes it.`);
}

/** A whole plain file, never through a link. */
function readBounded(folder: string, file: string, bytesMax: number): Buffer {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(join(folder, file), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = fstatSync(descriptor);
    if (size > bytesMax) {
      refuse('too_large', `${file} has more than ${bytesMax} bytes.`, { limit: bytesMax, given: size });
    }
    return readFileSync(descriptor);
  } catch (thrown) {
    if (thrown instanceof Refusal) throw thrown;
    return refuse('not_found', `${file} cannot be read: ${codeOf(thrown)}.`, { given: codeOf(thrown) });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : String(thrown);
}
