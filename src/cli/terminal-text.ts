/**
 * Text that comes from records or filters, made fit for a terminal, and figures in columns.
 */

/** Control characters (C0, DEL, C1) as JSON escapes. */
export function shown(text: string): string {
  let out = '';
  for (const character of text) {
    const code = character.codePointAt(0)!;
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
    out += isControl ? `\\u${code.toString(16).padStart(4, '0')}` : character;
  }
  return out;
}

/** At most `width` characters; what was longer ends in an ellipsis. */
export function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`;
}

/** A count with thousands separated. */
export function figure(value: number): string {
  return value.toLocaleString('en');
}

/** A share in whole percent; only nothing is 0 and only everything is 100. */
export function percent(part: number, whole: number): string {
  if (part === 0 || whole === 0) return '0%';
  const rounded = Math.round((100 * part) / whole);
  if (rounded === 0) return '<1%';
  return rounded === 100 && part < whole ? '>99%' : `${rounded}%`;
}

/** Rows as lines with aligned columns, two spaces apart: the named columns to the left, all others to the right. */
export function aligned(rows: readonly (readonly string[])[], leftColumns: readonly number[]): string[] {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(...rows.map((row) => [...(row[at] ?? '')].length)),
  );
  return rows.map((row) =>
    row
      .map((cell, at) => {
        const padding = ' '.repeat(widths[at]! - [...cell].length);
        return leftColumns.includes(at) ? cell + padding : padding + cell;
      })
      .join('  ')
      .trimEnd(),
  );
}

/** The first few of these offsets. */
export function offsetsText(offsets: readonly number[], total: number): string {
  const few = offsets.slice(0, EXAMPLES_SHOWN);
  return few.join(', ') + (total > few.length ? ', …' : '');
}

const EXAMPLES_SHOWN = 3;
