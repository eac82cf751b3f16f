/**
 * `winnow schema add | list | check`: the registry of writer schemas on disk (config/README.md "Writer schemas").
 *
 * Schemas are compiled as the service compiles them, in a worker. Exit code 0: done; 1: a schema is refused (it does not
 * compile, its id is taken, the folder holds what does not belong there); 2: a file or folder cannot be read, or the
 * command line is wrong.
 */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { listedSchema } from '../catalog/listed-schema.js';
import { isSchemaName, kindOfFile } from '../catalog/schema-file.js';
import { addSchema, readSchemaFolder, type RegisteredSchema, sourceOf } from '../catalog/schema-folder.js';
import { schemaBytes, type SchemaSource } from '../codec/schema-source.js';
import { problemOf, refuse } from '../core/error-codes.js';
import { SCHEMA_ID_MAX } from '../core/header-value.js';
import { SCHEMA_BYTES_MAX } from '../core/limits.js';
import { type CommandOutput, guarded, problemLines, readWhole, STANDARD_OUTPUT } from './command-output.js';
import { aligned, figure } from './terminal-text.js';

const EXIT_DONE = 0;
const EXIT_REFUSED = 1;

/** Digits of a hash that a table shows; `--json` has all. */
const HASH_SHOWN = 12;

interface FolderArguments {
  readonly folder: string;
  readonly json?: boolean;
}

interface AddArguments {
  readonly folder: string;
  readonly id: string;
  readonly message?: string;
}

/** Adds the command to the program. */
export function register(program: Command): void {
  const schema = program.command('schema').description('the registry of writer schemas of Avro and Protobuf payloads');
  schema
    .command('add')
    .description('add a schema under an id, which it keeps for ever')
    .argument('<file>', 'schema: .avsc, .desc (a FileDescriptorSet) or .proto')
    .requiredOption('--id <number>', 'what records carry in the header agdx.sid')
    .requiredOption('--folder <folder>', 'folder of the registry')
    .option('--message <type>', 'full name of the message, for .desc and .proto')
    .action(async (file: string, options: AddArguments) => {
      process.exitCode = await guarded('schema add', STANDARD_OUTPUT, () => runAdd(file, options, STANDARD_OUTPUT));
    });
  schema
    .command('list')
    .description('list the schemas of a registry')
    .requiredOption('--folder <folder>', 'folder of the registry')
    .option('--json', 'one JSON object per schema instead of a table')
    .action(async (options: FolderArguments) => {
      process.exitCode = await guarded('schema list', STANDARD_OUTPUT, () => runList(options, STANDARD_OUTPUT));
    });
  schema
    .command('check')
    .description('find out whether a service would start with this registry')
    .requiredOption('--folder <folder>', 'folder of the registry')
    .action(async (options: FolderArguments) => {
      process.exitCode = await guarded('schema check', STANDARD_OUTPUT, () => runCheck(options, STANDARD_OUTPUT));
    });
}

async function runAdd(file: string, options: AddArguments, output: CommandOutput): Promise<number> {
  const id = idOf(options.id);
  const source = sourceOfFile(file, options.message);
  const stem = basename(file).replace(/\.[a-z]+$/, '');
  const name = source.kind === 'avro' && isSchemaName(stem) && !/^\d/.test(stem) ? stem : undefined;
  const { withLocalEngine } = await import('./local-engine.js');
  return refusing(output, async () => {
    const added = await addSchema(options.folder, id, source, name, (schema) =>
      withLocalEngine(
        { schemas: [{ ...schema, file: basename(file), bytes: schemaBytes(source).byteLength }] },
        async () => undefined,
      ),
    );
    output.out(`${added.isNew ? 'added' : 'already there'}: ${added.file}`);
    return EXIT_DONE;
  });
}

async function runList({ folder, json }: FolderArguments, output: CommandOutput): Promise<number> {
  return refusing(output, async () => {
    const schemas = readSchemaFolder(folder);
    const lines =
      json === true
        ? schemas.map((schema) => JSON.stringify({ file: schema.file, ...listedSchema(schema) }))
        : tableOf(schemas);
    for (const line of lines) output.out(line);
    return EXIT_DONE;
  });
}

async function runCheck({ folder }: FolderArguments, output: CommandOutput): Promise<number> {
  return refusing(output, async () => {
    const schemas = readSchemaFolder(folder);
    const { withLocalEngine } = await import('./local-engine.js');
    await withLocalEngine({ schemas }, async () => undefined);
    output.out(`${figure(schemas.length)} ${schemas.length === 1 ? 'schema compiles' : 'schemas compile'}`);
    return EXIT_DONE;
  });
}

/** Runs what may refuse a schema: a refusal is exit code 1, but for what cannot be read. */
async function refusing(output: CommandOutput, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (thrown) {
    const problem = problemOf(thrown);
    if (problem.code === 'backend' || problem.code === 'not_found') throw thrown;
    for (const line of problemLines(problem)) output.error(line);
    return EXIT_REFUSED;
  }
}

function idOf(text: string): number {
  if (!/^(?:0|[1-9][0-9]{0,9})$/.test(text) || Number(text) > SCHEMA_ID_MAX) {
    refuse('invalid_request', `--id takes an integer from 0 to ${SCHEMA_ID_MAX}, not ${JSON.stringify(text)}.`);
  }
  return Number(text);
}

function sourceOfFile(file: string, messageType: string | undefined): SchemaSource {
  const kind = kindOfFile(file);
  if (kind === undefined) refuse('invalid_request', `${file} ends neither in .avsc nor in .desc or .proto.`);
  if (kind !== 'avro' && messageType === undefined) {
    refuse('invalid_request', `--message is needed: which message of ${file} are payloads?`);
  }
  if (kind === 'avro' && messageType !== undefined)
    refuse('invalid_request', '--message is only for .desc and .proto.');
  const bytes = readWhole(file);
  if (bytes.byteLength > SCHEMA_BYTES_MAX) {
    const given = bytes.byteLength;
    refuse('too_large', `${file} has more than ${SCHEMA_BYTES_MAX} bytes.`, { limit: SCHEMA_BYTES_MAX, given });
  }
  return sourceOf(bytes, { kind, ...(messageType === undefined ? {} : { messageType }) }, file);
}

function tableOf(schemas: readonly RegisteredSchema[]): string[] {
  const rows = schemas.map((schema) => {
    const { id, kind, name, message_type: messageType, hash, bytes } = listedSchema(schema);
    return [String(id), kind, messageType ?? name ?? '', hash.slice(0, HASH_SHOWN), figure(bytes)];
  });
  return aligned([['id', 'kind', 'message or name', 'hash', 'bytes'], ...rows], [1, 2, 3]);
}
