/**
 * Figures that are no ratio of two sides: shares of the processor, memory, latency, rates of a whole server.
 */
import type { Engine, Spread } from './harness.js';

export interface Figure {
  /** Unique together with `engine`. */
  readonly name: string;
  readonly engine: Engine;
  readonly unit: string;
  readonly value: Spread;
  readonly bar: { readonly kind: 'at least' | 'at most'; readonly value: number } | null;
  /** Judged by the median; null where there is no bar, or the run is too small to judge. */
  readonly met: boolean | null;
}

/** A figure with its verdict. */
export function figure(name: string, engine: Engine, unit: string, value: Spread, bar: Figure['bar'] = null): Figure {
  const met = bar === null ? null : bar.kind === 'at least' ? value.median >= bar.value : value.median <= bar.value;
  return { name, engine, unit, value, bar, met };
}

/** The figures as a Markdown table. */
export function figuresMarkdown(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, engine, unit, value, bar, met }) => {
    const { median, min, max } = value;
    const range = min === max ? '' : ` (${short(min)}–${short(max)})`;
    const verdict = met === null ? '' : met ? ' met' : ' missed';
    const judged = bar === null ? '–' : `${bar.kind === 'at least' ? '≥' : '≤'} ${bar.value}${verdict}`;
    return `| ${name} | ${engine} | ${short(median)} ${unit}${range} | ${judged} |`;
  });
  return ['| figure | engine | median (min–max) | bar |', '|---|---|---|---|', ...rows].join('\n');
}

function short(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en').replaceAll(',', ' ');
  return value.toFixed(value >= 10 ? 1 : 2);
}
