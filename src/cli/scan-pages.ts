/**
 * Where the pages of `winnow scan` arrive: records go to the printer, counts into the report, the last frame is kept.
 *
 * Invariant: what the report says of examined records is the sum of what the pages say, and their conservation law holds.
 */
import type { ScanSink } from '../run/sink.js';
import type { EndFrame, ErrorFrame, ProgressFrame } from '../wire/frames.js';
import type { PageFrame } from '../wire/page.js';
import type { PrintedRecord, RecordPrinter } from './scan-print.js';
import type { ProgressLine } from './scan-progress.js';

/** What one filter's scan came to, over all requests. */
export class ScanReport {
  examined = 0;
  matched = 0;
  rejected = 0;
  unevaluated = 0;
  dropped = 0;
  examinedBytes = 0;
  nextScanOffset: number | undefined;
  tornBytes = 0;
  /** Why the scan could not go to the end; undefined if it did, or stopped where it was told to. */
  trouble: string | undefined;

  /** Lines for a person; the first is the conservation law with its numbers. */
  summaryLines(): string[] {
    const figure = (value: number): string => value.toLocaleString('en');
    const lines = [
      `examined ${figure(this.examined)} = ${figure(this.matched)} matched + ${figure(this.rejected)} rejected + ` +
        `${figure(this.unevaluated)} unevaluated + ${figure(this.dropped)} dropped, ` +
        bytesText(this.examinedBytes) +
        (this.nextScanOffset === undefined ? '' : `, next offset ${this.nextScanOffset}`),
    ];
    if (this.tornBytes > 0) lines.push(`an unfinished frame of ${figure(this.tornBytes)} bytes stands at the end`);
    if (this.trouble !== undefined) lines.push(this.trouble);
    return lines;
  }
}

/** The end frame's word on a filter. */
type FilterEnd = EndFrame['filters'][number];

/** Stops that end a response and not the scan, and the one that ends the log. */
const NO_TROUBLE: readonly string[] = ['filled', 'budget', 'deadline', 'end_of_visible'];

export class PageSink implements ScanSink {
  readonly report = new ScanReport();
  /** How the last response ended for the filter; undefined after an error frame. */
  last: FilterEnd | undefined;
  /** Records that may still be delivered. */
  left: number;
  private readonly printer: RecordPrinter | undefined;
  private readonly progressLine: ProgressLine;
  /** What earlier responses came to: progress frames count from the start of theirs. */
  private before = { examined: 0, matched: 0, bytes: 0 };

  /** Delivers at most `limit` records; without a printer it only counts. */
  constructor(limit: number, printer: RecordPrinter | undefined, progressLine: ProgressLine) {
    this.left = limit;
    this.printer = printer;
    this.progressLine = progressLine;
  }

  begin(): void {
    const { examined, matched, examinedBytes } = this.report;
    this.last = undefined;
    this.before = { examined, matched, bytes: examinedBytes };
  }

  page(frame: Uint8Array): void {
    const page = parse<PageFrame>(frame);
    const { report } = this;
    report.examined += page.examined;
    report.matched += page.matched;
    report.rejected += page.rejected;
    report.unevaluated += page.unevaluated_count;
    report.dropped += page.dropped;
    report.examinedBytes += page.examined_bytes;
    report.nextScanOffset = page.next_scan_offset ?? report.nextScanOffset;
    report.tornBytes = page.torn_bytes ?? 0;
    this.left -= page.matched + page.unevaluated_count;
    const reasons = new Map(page.unevaluated.map(({ offset, reason }) => [offset, reason]));
    this.progressLine.clear();
    for (const record of (page.records ?? []) as PrintedRecord[]) {
      this.printer?.print(record, reasons.get(record.offset));
    }
    this.progressLine.show(report.examined, report.matched, report.examinedBytes);
  }

  progress(frame: Uint8Array): void {
    const { records_scanned: records, bytes_scanned: bytes, filters } = parse<ProgressFrame>(frame);
    const { before } = this;
    this.progressLine.show(
      before.examined + records,
      before.matched + (filters[0]?.matched ?? 0),
      before.bytes + bytes,
    );
  }

  end(frame: Uint8Array): void {
    const last = parse<EndFrame>(frame).filters[0]!;
    this.last = last;
    if (!NO_TROUBLE.includes(last.stop)) {
      const { offset, reason } = last.fault ?? {};
      this.report.trouble = `stopped: ${reason ?? last.stop}${offset === undefined ? '' : ` at offset ${offset}`}`;
    }
  }

  error(frame: Uint8Array): void {
    this.report.trouble = parse<ErrorFrame>(frame).problem.detail;
  }

  get isDrained(): boolean {
    return !process.stdout.writableNeedDrain;
  }

  async drained(): Promise<void> {
    if (!this.isDrained) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
}

/** Bytes as a person reads them: KiB below one MiB. */
function bytesText(bytes: number): string {
  const kib = bytes / 1024;
  return kib < 1024 ? `${kib.toFixed(1)} KiB` : `${(kib / 1024).toFixed(1)} MiB`;
}

function parse<T>(frame: Uint8Array): T {
  return JSON.parse(new TextDecoder().decode(frame)) as T;
}
