/**
 * The demo's table: what each group examined, received and was spared, and whether the second evaluator agrees.
 */
import type { GroupResult } from './read-group.js';

export interface CheckedGroup extends GroupResult {
  readonly log: string;
  /** True when the offsets equal those of the independent evaluator. */
  readonly agrees: boolean;
}

const MIB = 1024 * 1024;

/** Rows by log, aligned for a terminal. */
export function renderReport(groups: readonly CheckedGroup[]): string {
  const head = ['log', 'group', 'examined', 'MiB', 'matched', '%', 'MiB avoided', 'pages', 'records/s', 're-check'];
  const rows = groups.map((group) => [
    group.log,
    group.name,
    group.examined.toLocaleString('en'),
    (group.examinedBytes / MIB).toFixed(1),
    group.offsets.length.toLocaleString('en'),
    ((100 * group.offsets.length) / group.examined).toFixed(1),
    ((group.examinedBytes - group.returnedBytes) / MIB).toFixed(1),
    String(group.pages),
    Math.round(group.examined / (group.elapsedMs / 1000)).toLocaleString('en'),
    group.agrees ? 'equal' : 'DIFFERS',
  ]);
  const table = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const isText = (column: number): boolean => column < 2 || column === head.length - 1;
  return table
    .map((row) =>
      row
        .map((cell, column) => (isText(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
