/**
 * What the service says of its own memory while the soak runs, and whether it grew.
 *
 * Growth is the difference of two medians, of the last quarter of the samples and of the second: the first quarter is
 * warm-up, and single peaks are what bodies and pages in flight make of them.
 */

/** One look, in bytes; `atMs` from the start of the soak. */
export interface Sample {
  readonly atMs: number;
  readonly resident: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly openFiles: number;
}

export interface MemoryVerdict {
  readonly peak: number;
  readonly second: number;
  readonly last: number;
  readonly growth: number;
}

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value?: number;
}
type Stats = Readonly<Record<string, readonly Series[]>>;

/** The numbers of `GET /stats`. */
export async function statsOf(address: string): Promise<Stats> {
  const response = await fetch(`${address}/stats`);
  if (response.status !== 200) throw new Error(`/stats answered ${response.status}`);
  return (await response.json()) as Stats;
}

/** The sum of a metric's series. */
export function total(stats: Stats, name: string): number {
  return (stats[name] ?? []).reduce((sum, { value }) => sum + (value ?? 0), 0);
}

export function sampleOf(stats: Stats, atMs: number): Sample {
  return {
    atMs: Math.round(atMs),
    resident: total(stats, 'process_resident_memory_bytes'),
    heapUsed: total(stats, 'nodejs_heap_size_used_bytes'),
    external: total(stats, 'nodejs_external_memory_bytes'),
    openFiles: total(stats, 'process_open_fds'),
  };
}

/** Resident memory at its highest, and how it grew. Needs at least eight samples. */
export function judged(samples: readonly Sample[]): MemoryVerdict {
  const resident = samples.map((sample) => sample.resident);
  const quarter = Math.floor(resident.length / 4);
  if (quarter < 2) throw new Error(`${resident.length} samples are too few to judge growth by`);
  const second = median(resident.slice(quarter, 2 * quarter));
  const last = median(resident.slice(-quarter));
  return { peak: Math.max(...resident), second, last, growth: last - second };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
