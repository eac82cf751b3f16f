/**
 * What a process has used of the processor and of memory, by Linux's own accounts; `null` on other systems, where the
 * figures that need it are left out.
 *
 * Invariant: threads that ended in between are not counted, so a figure is right only while the process keeps its
 * threads, as a service under way does.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface ProcessUsage {
  /** Processor time, milliseconds since the process began. */
  readonly mainThreadMs: number;
  readonly allThreadsMs: number;
  readonly peakRssBytes: number;
}

/** The usage of process `pid` until now. Throws if it is gone. */
export function usageOf(pid: number): ProcessUsage | null {
  const folder = `/proc/${pid}`;
  if (!existsSync(`${folder}/task/${pid}/schedstat`)) return null;
  const threads = readdirSync(`${folder}/task`).map((id) => processorMs(`${folder}/task/${id}/schedstat`));
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`${folder}/status`, 'utf8'))!;
  return {
    mainThreadMs: processorMs(`${folder}/task/${pid}/schedstat`),
    allThreadsMs: threads.reduce((sum, ms) => sum + ms, 0),
    peakRssBytes: Number(peak[1]) * 1024,
  };
}

/** The first number of the file: nanoseconds on a processor. */
function processorMs(path: string): number {
  return Number(readFileSync(path, 'utf8').split(' ')[0]) / 1e6;
}
