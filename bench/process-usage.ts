/**
 * What a process has used of the processor and of memory, by Linux's own accounts; `null` on other systems, where the
 * figures that need it are left out.
 *
 * Invariant: threads that ended in between are not counted, so a figure is right only while the process keeps its
 * threads, as a service under way does.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const THIS_THREAD = '/proc/thread-self/schedstat';

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

/**
 * Nanoseconds that the calling thread has had a processor: what others on the machine do is not in it, but for what they
 * take of caches and memory. Where the system does not tell, the clock.
 */
export const threadNanoseconds: () => number = existsSync(THIS_THREAD)
  ? () => {
      // Linux brings the account up to date at a tick, or when it is asked for the process's.
      process.cpuUsage();
      return processorMs(THIS_THREAD) * 1e6;
    }
  : clockNanoseconds;

/** Nanoseconds of the clock. */
export function clockNanoseconds(): number {
  return performance.now() * 1e6;
}

/** The first number of the file: nanoseconds on a processor. */
function processorMs(path: string): number {
  return Number(readFileSync(path, 'utf8').split(' ')[0]) / 1e6;
}
