/**
 * The registry of writer schemas that a command is given: the same option for every command that reads records or
 * compiles filters.
 */
import type { Command } from 'commander';
import { readSchemaFolder, type RegisteredSchema } from '../catalog/schema-folder.js';

/** The option as the command line gives it. */
export interface SchemasArgument {
  readonly schemas?: string;
}

/** Adds the option to a command. */
export function schemasOption(command: Command): Command {
  return command.option('--schemas <folder>', 'writer schemas of Avro and Protobuf payloads (winnow schema)');
}

/** The schemas of the folder, none without one. Refuses what is wrong with the folder. */
export function schemasOf({ schemas }: SchemasArgument): readonly RegisteredSchema[] {
  return schemas === undefined ? [] : readSchemaFolder(schemas);
}
