/**
 * The range of records that `winnow preview` and `winnow diff` look at: its options, and what to say of how far they got.
 */
import type { Command } from 'commander';
import { PREVIEW_EXAMINED_MAX } from '../core/limits.js';
import type { PreviewReply } from '../wire/preview.js';
import type { SegmentInput } from '../wire/scan-request.js';
import { countOf } from './command-output.js';
import { type SchemasArgument, schemasOption } from './schemas-option.js';
import { type SegmentArguments, segmentCommand, segmentOf } from './segment-argument.js';
import { figure } from './terminal-text.js';

/** The options as the command line gives them. */
export interface RangeArguments extends SegmentArguments, SchemasArgument {
  readonly from?: string;
  readonly examine?: string;
}

/** A new command of the program that looks at a range of a segment file. */
export function rangeCommand(program: Command, name: string): Command {
  return schemasOption(segmentCommand(program, name))
    .option('--from <offset>', 'start at this offset')
    .option(
      '--examine <count>',
      `examine so many records, at most ${PREVIEW_EXAMINED_MAX}`,
      String(PREVIEW_EXAMINED_MAX),
    );
}

/** The range as requests name it. More records than a preview examines are as many as it does. */
export function rangeOf(
  file: string,
  options: RangeArguments,
): { partition_id: number; segments: SegmentInput[]; from_offset: number; max_examined: number } {
  const { segment, partitionId } = segmentOf(file, options);
  const wanted = countOf(options.examine ?? String(PREVIEW_EXAMINED_MAX), '--examine');
  return {
    partition_id: partitionId,
    segments: [segment],
    from_offset: countOf(options.from ?? '0', '--from'),
    max_examined: Math.min(Math.max(wanted, 1), PREVIEW_EXAMINED_MAX),
  };
}

type Progress = Pick<PreviewReply, 'stop' | 'budget' | 'fault' | 'next_scan_offset' | 'examined_bytes' | 'budgets'>;

/** How far it looked and why not further, with the offset to go on at. */
export function rangeLine(reply: Progress): string {
  const { stop, budget, next_scan_offset: next, budgets } = reply;
  const limit =
    budget === 'examined_bytes'
      ? `${figure(budgets.max_examined_bytes)} bytes`
      : `${figure(budgets.max_examined)} records`;
  const reasons: Readonly<Record<string, string>> = {
    end_of_visible: 'to the end of the segment',
    budget: `up to the limit of ${limit}`,
    deadline: `as far as ${budgets.deadline_ms / 1000} s allowed`,
  };
  const mib = (reply.examined_bytes / (1024 * 1024)).toFixed(1);
  const goOn = next === undefined ? '' : `; next offset ${next}`;
  return `${reasons[stop] ?? `up to a stop (${stop})`}, ${mib} MiB${goOn}`;
}

/** Stops that are no trouble: the end, or a limit. */
const NO_TROUBLE: readonly string[] = ['end_of_visible', 'budget', 'deadline'];

/** What kept it from going on, if that was a fault or damage. */
export function troubleOf({ stop, fault }: Progress): string | undefined {
  if (NO_TROUBLE.includes(stop)) return undefined;
  const { reason, offset, segment, position } = fault ?? {};
  const place =
    offset !== undefined ? ` at offset ${offset}` : segment !== undefined ? ` at byte ${position} of the segment` : '';
  return `stopped: ${reason ?? stop}${place}`;
}
