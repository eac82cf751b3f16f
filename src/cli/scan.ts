/**
 * `winnow scan FILE --filter F.json`: scans one segment file and prints what matches, with exact progress.
 *
 * It asks the same runner as the service for pages and follows continuations to the end. Exit codes are grep's. 0: some
 * record matched, 1: none did, 2: the scan could not go to its end (a fault under `stop`, damage, a bad filter).
 */
import type { Command } from 'commander';
import { OFFSET_MAX } from '../core/limits.js';
import { type CommandOutput, countOf, EXIT_TROUBLE, guarded, readWhole, STANDARD_OUTPUT } from './command-output.js';
import type { LocalEngine } from './local-engine.js';
import { PageSink, type ScanReport } from './scan-pages.js';
import { NdjsonPrinter, type RecordPrinter, TablePrinter } from './scan-print.js';
import { ProgressLine } from './scan-progress.js';
import { type SchemasArgument, schemasOf, schemasOption } from './schemas-option.js';
import { type SegmentArguments, segmentCommand, segmentOf, storeOf } from './segment-argument.js';

const EXIT_MATCHED = 0;
const EXIT_NONE = 1;

/** Larger than any file: the command reads to the end, in pages and requests that stay small. */
const EVERYTHING = OFFSET_MAX;
const PAGES_PER_REQUEST = 1_000;
const RECORDS_PER_PAGE = 1_000;
const REQUEST_MS = 60_000;

/** The command's options as the command line gives them. */
export interface ScanArguments extends SegmentArguments, SchemasArgument {
  readonly filter: string;
  readonly json?: boolean;
  readonly count?: boolean;
  readonly from?: string;
  readonly limit?: string;
}

/** Adds the command to the program. */
export function register(program: Command): void {
  schemasOption(segmentCommand(program, 'scan'))
    .description('print the records of a segment file that a filter selects')
    .requiredOption('--filter <file>', 'filter document (JSON), - for standard input')
    .option('--json', 'one JSON object per record instead of a table')
    .option('--count', 'print only the number of records')
    .option('--from <offset>', 'start at this offset')
    .option('--limit <count>', 'stop after this many records')
    .action(async (file: string, options: ScanArguments) => {
      process.exitCode = await guarded('scan', STANDARD_OUTPUT, () => runScanCommand(file, options, STANDARD_OUTPUT));
    });
}

/** Runs the command and returns its exit code. */
export async function runScanCommand(file: string, options: ScanArguments, output: CommandOutput): Promise<number> {
  const filterText = readWhole(options.filter).toString('utf8');
  const limit = options.limit === undefined ? EVERYTHING : countOf(options.limit, '--limit');
  const request = requestFor(file, options, filterText);
  const printer: RecordPrinter = options.json === true ? new NdjsonPrinter(output) : new TablePrinter(output);
  const progress = new ProgressLine(process.stderr);
  const { withLocalEngine } = await import('./local-engine.js');
  const report = await withLocalEngine({ stores: storeOf(file), schemas: schemasOf(options) }, (engine) =>
    readToTheEnd(engine, request, limit, options.count === true ? undefined : printer, progress),
  );
  progress.clear();
  if (options.count === true) output.out(String(report.matched + report.unevaluated));
  for (const line of report.summaryLines()) output.error(line);
  if (report.trouble !== undefined) return EXIT_TROUBLE;
  return report.matched + report.unevaluated > 0 ? EXIT_MATCHED : EXIT_NONE;
}

type ScanInput = Parameters<LocalEngine['runner']['prepare']>[0]['request'];

function requestFor(file: string, options: ScanArguments, filterText: string): ScanInput {
  const { segment, partitionId } = segmentOf(file, options);
  return {
    v: 1,
    source: { stream: 'file', topic: 'file' },
    partition_id: partitionId,
    segments: [segment],
    filters: [{ id: 'filter', filter_text: filterText }],
    start: options.from === undefined ? 'first' : { offset: countOf(options.from, '--from') },
    count: RECORDS_PER_PAGE,
    max_reply_bytes: EVERYTHING,
    max_examined: EVERYTHING,
    max_examined_bytes: EVERYTHING,
    deadline_ms: REQUEST_MS,
    pages: PAGES_PER_REQUEST,
  };
}

/** Stops that only end a response: the scan goes on where it stood. */
const GOES_ON: readonly string[] = ['filled', 'budget', 'deadline'];

async function readToTheEnd(
  { runner, clock }: LocalEngine,
  request: ScanInput,
  limit: number,
  printer: RecordPrinter | undefined,
  progress: ProgressLine,
): Promise<ScanReport> {
  const { signal } = new AbortController();
  const sink = new PageSink(limit, printer, progress);
  let start = request.start!;
  for (;;) {
    const slot = await runner.admit('cli', clock.nowMs(), signal);
    if (slot === null) return sink.report;
    try {
      // Whole pages that are not more than may still be delivered, so that a limit is met to the record.
      const pages = Math.min(PAGES_PER_REQUEST, Math.max(1, Math.floor(sink.left / RECORDS_PER_PAGE)));
      const order = {
        slot,
        request: { ...request, start, pages, count: Math.min(RECORDS_PER_PAGE, Math.max(1, sink.left)) },
        requestId: 'cli',
        encoding: 'json' as const,
        framed: true,
        wantsWholePages: limit !== EVERYTHING,
      };
      await runner.scan(await runner.prepare(order, signal), sink, signal);
    } finally {
      slot.release();
    }
    const { last } = sink;
    if (last === undefined || !GOES_ON.includes(last.stop) || sink.left === 0) return sink.report;
    start = { continue: last.continuation };
  }
}
