/**
 * A funnel as a table for a person: the expression as a tree, a line a node, with counts and shares in columns, example
 * offsets, and a mark at the node that rejected most.
 *
 * Columns that are zero for every node are left out: what did not happen does not have to be read.
 */
import type { FunnelNodeReply, PreviewReply } from '../wire/preview.js';
import { aligned, cut, figure, offsetsText, percent, shown } from './terminal-text.js';

const LABEL_WIDTH = 56;
const PERCENT_WIDTH = 5;
const MARK = '▶';

/** Columns in order; the first two and `rejected` always stand. */
const COLUMNS = [
  ['match', 'match'],
  ['no_match', 'no match'],
  ['unknown', 'unknown'],
  ['mismatch', 'mismatch'],
  ['unjudged', 'unjudged'],
  ['not_reached', 'not reached'],
  ['rejected', 'rejected'],
] as const;
const ALWAYS: readonly string[] = ['match', 'no_match', 'rejected'];

interface Line {
  readonly branch: string;
  readonly node: FunnelNodeReply;
}

/** The lines of a funnel over so many examined records. */
export function funnelLines({ root, unjudged }: PreviewReply['funnel'], examined: number): string[] {
  const lines = treeLines(root, '', '');
  const columns = COLUMNS.filter(([name]) => ALWAYS.includes(name) || lines.some(({ node }) => node[name] > 0));
  const most = lines.reduce((best, line) => (line.node.rejected > best.node.rejected ? line : best), lines[0]!);
  const hasRejected = most.node.rejected > 0;
  const rows = lines.map(({ branch, node }) => [
    hasRejected && node === most.node ? MARK : ' ',
    branch + cut(shown(node.label), LABEL_WIDTH),
    ...columns.map(([name]) => counted(node[name], examined)),
    node.rejected === 0 ? '' : offsetsText(node.examples, node.rejected),
  ]);
  const heads = [' ', 'expression', ...columns.map(([, head]) => head), 'rejected offsets'];
  const table = aligned([heads, ...rows], [0, 1, heads.length - 1]);
  return [
    ...table,
    ...unjudged.map(({ reason, records, examples }) => {
      return `  not judged: ${reason} ${figure(records)}, at offsets ${offsetsText(examples, records)}`;
    }),
    ...(hasRejected ? ['', mostLine(most.node, examined)] : []),
  ];
}

/** A count and its share, so that counts stand below counts and shares below shares. */
function counted(count: number, examined: number): string {
  return figure(count) + (count === 0 ? '' : percent(count, examined)).padStart(PERCENT_WIDTH);
}

function mostLine({ label, rejected, examples }: FunnelNodeReply, examined: number): string {
  return (
    `${MARK} rejected most: ${cut(shown(label), LABEL_WIDTH)}, ${figure(rejected)} of ${figure(examined)} records ` +
    `(${percent(rejected, examined)}), at offsets ${offsetsText(examples, rejected)}`
  );
}

function treeLines(node: FunnelNodeReply, branch: string, below: string): Line[] {
  const children = node.children ?? [];
  return [
    { branch, node },
    ...children.flatMap((child, i) => {
      const isLast = i === children.length - 1;
      return treeLines(child, below + (isLast ? '└─ ' : '├─ '), below + (isLast ? '   ' : '│  '));
    }),
  ];
}
