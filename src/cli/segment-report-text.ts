/**
 * The report of `winnow inspect` as lines for people.
 *
 * Text from the segment (header keys) is written with control characters escaped, so that a file cannot drive the
 * terminal.
 */
import type { SegmentReport, Spread } from './segment-report.js';

/** The report's lines, without a line end. */
export function segmentReportLines(report: SegmentReport): string[] {
  const lines = [
    row('format', report.format),
    row('bytes', grouped(report.bytes)),
    row('frames', grouped(report.frames)),
    row('offsets', offsetsOf(report)),
    ...prefixLines(report),
    ...spreadLine('frame bytes', report.frame_bytes),
    ...spreadLine('payload bytes', report.payload_bytes),
    ...spreadLine('header bytes', report.header_bytes),
    row('checksums', report.checksums_verified ? 'verified where set' : 'not verified (--verify)'),
    ...keyLines(report),
    ...frameLines(report),
  ];
  if (report.torn_bytes !== undefined) {
    lines.push(row('torn tail', `${grouped(report.torn_bytes)} bytes of an unfinished frame at the end`));
  }
  lines.push(...damageLines(report));
  return lines;
}

function offsetsOf({ first_offset: first, last_offset: last, gaps }: SegmentReport): string {
  if (first === undefined || last === undefined) return 'none';
  return `${first} … ${last}${gaps === 0 ? '' : `, ${grouped(gaps)} ${gaps === 1 ? 'gap' : 'gaps'}`}`;
}

function prefixLines(report: SegmentReport): string[] {
  const lines: string[] = [];
  if (report.partition_id !== undefined) lines.push(row('partition', `${report.partition_id}`));
  if (report.announced_offset !== undefined) lines.push(row('announced', `current offset ${report.announced_offset}`));
  return lines;
}

function spreadLine(name: string, spread: Spread | undefined): string[] {
  if (spread === undefined) return [];
  return [row(name, `${grouped(spread.min)} … ${grouped(spread.max)}, mean ${grouped(spread.mean)}`)];
}

function keyLines(report: SegmentReport): string[] {
  const lines = report.header_keys.map(({ key, key_kind: kind, kinds, entries }, index) => {
    const name = kind === 2 ? printable(key) : `0x${key} (key kind ${kind})`;
    return row(index === 0 ? 'header keys' : '', `${name}  ${kinds.join(', ')}  ×${grouped(entries)}`);
  });
  if (report.header_keys_left_out > 0)
    lines.push(row('', `entries of further keys: ${grouped(report.header_keys_left_out)}`));
  if (report.malformed_header_blocks > 0) {
    lines.push(row('', `blocks that do not parse: ${grouped(report.malformed_header_blocks)}`));
  }
  return lines;
}

function frameLines({ listed }: SegmentReport): string[] {
  if (listed.length === 0) return [];
  const titles = ['offset', 'position', 'bytes', 'payload', 'headers', 'timestamp'];
  const cells = listed.map((frame) => [
    `${frame.offset}`,
    `${frame.position}`,
    `${frame.frame_bytes}`,
    `${frame.payload_bytes}`,
    `${frame.header_bytes}`,
    frame.timestamp ?? '–',
  ]);
  const widths = titles.map((title, column) => Math.max(title.length, ...cells.map((line) => line[column]!.length)));
  const lines = [titles, ...cells].map((line) => line.map((cell, column) => cell.padStart(widths[column]!)).join('  '));
  return ['', ...lines, ''];
}

function damageLines({ damage }: SegmentReport): string[] {
  if (damage === undefined) return [row('damage', 'none')];
  const before = damage.offset_before === undefined ? 'before any record' : `after offset ${damage.offset_before}`;
  return [row('damage', `at position ${damage.position}, ${before}: ${damage.fault}`), row('', damage.detail)];
}

function row(name: string, value: string): string {
  return `${name.padEnd(14)}${value}`;
}

function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

/** JSON's escapes for control characters, without its quotes. */
function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
