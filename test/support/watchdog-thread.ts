/** The thread of `watchdog.ts`, and the memory that both look at. */
import { writeSync } from 'node:fs';
import { isMainThread, workerData } from 'node:worker_threads';

/** Places in `numbers`. The count is odd while a walk runs and grows by one when it begins and when it ends. */
export const COUNT = 0;
export const LENGTH = 1;
export const NAME_LENGTH = 2;
export const NUMBERS = 3;

export const PAYLOAD_BYTES_KEPT = 4096;
export const NAME_BYTES_KEPT = 64;

export interface WatchedMemory {
  readonly numbers: Int32Array;
  readonly name: Uint8Array;
  readonly payload: Uint8Array;
}

const LOOK_EVERY_MS = 1000;
/** A walk of the largest payload takes milliseconds; a machine may stall for seconds. */
const LOOKS_MAX = 30;

function watch({ numbers, name, payload }: WatchedMemory): void {
  let seen = 0;
  let looks = 0;
  const look = () => {
    const count = Atomics.load(numbers, COUNT);
    looks = count === seen && (count & 1) === 1 ? looks + 1 : 0;
    seen = count;
    if (looks < LOOKS_MAX) return;
    const engine = Buffer.from(name.slice(0, numbers[NAME_LENGTH])).toString();
    const start = Buffer.from(payload.slice(0, numbers[LENGTH])).toString('latin1');
    writeSync(2, `${engine} does not come back from ${numbers[LENGTH]} bytes: ${JSON.stringify(start)}\n`);
    process.kill(process.pid, 'SIGKILL');
  };
  setInterval(look, LOOK_EVERY_MS);
}

const memory = workerData as WatchedMemory | null;
if (!isMainThread && memory?.numbers instanceof Int32Array) watch(memory);
