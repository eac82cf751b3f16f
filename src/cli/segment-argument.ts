/**
 * The segment file that a command is given, and the options that say how to read it: the same for every command that
 * scans one.
 */
import { basename, dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { refuse } from '../core/error-codes.js';
import { checkSegmentFormat, type SegmentFormatName } from '../segment/formats.js';
import { openFile } from '../source/store.js';
import { Window } from '../source/window.js';
import type { SegmentInput } from '../wire/scan-request.js';
import { countOf } from './command-output.js';
import { guessSegmentFormat, polledPartitionOf } from './segment-format-guess.js';

/** The options as the command line gives them. */
export interface SegmentArguments {
  readonly format?: string;
  readonly baseOffset?: string;
  readonly verify?: boolean;
  readonly unsealed?: boolean;
}

/** A new command of the program that takes a segment file. */
export function segmentCommand(program: Command, name: string): Command {
  return program
    .command(name)
    .argument('<file>', 'segment file')
    .option('--format <name>', 'iggy, iggy_polled or ndjson; guessed from the bytes without it')
    .option('--base-offset <offset>', 'ndjson: offset of the first line', '0')
    .option('--verify', 'verify checksums that are set')
    .option('--unsealed', 'the file is still written to: an unfinished frame at its end is no damage');
}

/** The store under which a local engine finds the file. */
export function storeOf(file: string): Readonly<Record<string, string>> {
  return { file: dirname(resolve(file)) };
}

/** The file as a segment of a request, and the partition it belongs to. Refuses what is no segment. */
export function segmentOf(
  file: string,
  options: SegmentArguments,
): { readonly segment: SegmentInput; readonly partitionId: number } {
  const { format, partitionId } = formatOf(file, options.format);
  return {
    partitionId,
    segment: {
      format,
      store: 'file',
      path: basename(file),
      sealed: options.unsealed !== true || format === 'iggy_polled',
      verify_checksums: options.verify === true,
      ...(format === 'ndjson' ? { base_offset: countOf(options.baseOffset ?? '0', '--base-offset') } : {}),
    },
  };
}

function formatOf(file: string, named: string | undefined): { format: SegmentFormatName; partitionId: number } {
  const given = named === undefined ? undefined : checkSegmentFormat(named, '--format');
  const source = openFile(file);
  try {
    const format = given ?? guessSegmentFormat(source, new Window());
    if (format === undefined) refuse('invalid_request', 'The format cannot be guessed; name it with --format.');
    return { format, partitionId: format === 'iggy_polled' ? polledPartitionOf(source) : 0 };
  } finally {
    source.close();
  }
}
