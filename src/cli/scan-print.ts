/**
 * How `winnow scan` prints a record: a table row for people, a JSON object a line for programs.
 *
 * Control characters of payloads and headers never reach a terminal: the table shows JSON escapes for them.
 */
import type { CommandOutput } from './command-output.js';
import { cut, shown } from './terminal-text.js';

/** A record of a JSON page (scan-protocol §1 "A page"). */
export interface PrintedRecord {
  readonly offset: number;
  readonly timestamp: number | string;
  readonly headers?: readonly { readonly key: string; readonly value: { readonly value: unknown } }[];
  /** Base64. */
  readonly payload?: string;
}

export interface RecordPrinter {
  /** `unevaluated`: the reason where the record was delivered without a verdict. */
  print(record: PrintedRecord, unevaluated: string | undefined): void;
}

/** The record as the service returns it, with the payload as `payload_text` where it is UTF-8. */
export class NdjsonPrinter implements RecordPrinter {
  private readonly output: CommandOutput;
  private readonly utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(output: CommandOutput) {
    this.output = output;
  }

  print(record: PrintedRecord, unevaluated: string | undefined): void {
    const { payload, ...rest } = record;
    this.output.out(
      JSON.stringify({
        ...rest,
        ...this.payloadOf(payload ?? ''),
        ...(unevaluated === undefined ? {} : { unevaluated }),
      }),
    );
  }

  private payloadOf(base64: string): { payload_text: string } | { payload: string } {
    const bytes = Buffer.from(base64, 'base64');
    try {
      return { payload_text: this.utf8.decode(bytes) };
    } catch (thrown) {
      // Bytes that are no text stay as they came.
      if (thrown instanceof TypeError) return { payload: base64 };
      throw thrown;
    }
  }
}

const OFFSET_WIDTH = 12;
const TIME_WIDTH = 24;
const HEADERS_WIDTH = 48;
const PAYLOAD_WIDTH = 96;

/** One row a record: offset, time, headers, the payload's first characters. */
export class TablePrinter implements RecordPrinter {
  private readonly output: CommandOutput;
  private isFirst = true;

  constructor(output: CommandOutput) {
    this.output = output;
  }

  print(record: PrintedRecord, unevaluated: string | undefined): void {
    if (this.isFirst) this.output.out(row('offset', 'time', 'headers', 'payload'));
    this.isFirst = false;
    const headers = (record.headers ?? []).map(({ key, value }) => `${key}=${String(value.value)}`).join(' ');
    const payload = Buffer.from(record.payload ?? '', 'base64').toString('utf8');
    const mark = unevaluated === undefined ? '' : `[${unevaluated}] `;
    this.output.out(row(String(record.offset), timeText(record.timestamp), shown(headers), shown(`${mark}${payload}`)));
  }
}

function row(offset: string, time: string, headers: string, payload: string): string {
  const cells = [
    offset.padStart(OFFSET_WIDTH),
    time.padEnd(TIME_WIDTH),
    cut(headers, HEADERS_WIDTH).padEnd(HEADERS_WIDTH),
  ];
  return `${cells.join('  ')}  ${cut(payload, PAYLOAD_WIDTH)}`.trimEnd();
}

/** Microseconds as UTC to the millisecond; 0 is "none"; beyond the calendar the number itself. */
function timeText(micros: number | string): string {
  if (Number(micros) === 0) return '-';
  const date = new Date(Number(BigInt(micros) / 1000n));
  return Number.isNaN(date.getTime()) ? String(micros) : date.toISOString();
}
