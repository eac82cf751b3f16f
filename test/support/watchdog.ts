/**
 * Ends the test process where an engine does not come back from one payload, and says from which: a test's own timeout
 * cannot, since nothing else runs on a thread that spins.
 *
 * Each process has one watchdog thread, started with the first payload; it looks every second whether the walk that it
 * saw last is still the same.
 */
import { Worker } from 'node:worker_threads';
import {
  COUNT,
  LENGTH,
  NAME_LENGTH,
  NUMBERS,
  PAYLOAD_BYTES_KEPT,
  NAME_BYTES_KEPT,
  type WatchedMemory,
} from './watchdog-thread.js';

/** A thread runs compiled code, also where this file does not. */
const THREAD = import.meta.url.endsWith('.ts') ? '../../dist/test/support/watchdog-thread.js' : './watchdog-thread.js';
const utf8 = new TextEncoder();

const memory: WatchedMemory = {
  numbers: new Int32Array(new SharedArrayBuffer(NUMBERS * 4)),
  name: new Uint8Array(new SharedArrayBuffer(NAME_BYTES_KEPT)),
  payload: new Uint8Array(new SharedArrayBuffer(PAYLOAD_BYTES_KEPT)),
};

let thread: Worker | null = null;
let nameSeen = '';
let payloadSeen: Uint8Array | null = null;

/** Says that the walk of `payload` by `engine` begins. Bytes that change in the same array are told as they first were. */
export function beginWatched(engine: string, payload: Uint8Array): void {
  if (thread === null) {
    thread = new Worker(new URL(THREAD, import.meta.url), { workerData: memory });
    thread.unref();
  }
  const { numbers, name } = memory;
  if (engine !== nameSeen) {
    nameSeen = engine;
    numbers[NAME_LENGTH] = utf8.encodeInto(engine, name).written;
  }
  if (payload !== payloadSeen) {
    payloadSeen = payload;
    numbers[LENGTH] = payload.length;
    memory.payload.set(payload.length > PAYLOAD_BYTES_KEPT ? payload.subarray(0, PAYLOAD_BYTES_KEPT) : payload);
  }
  Atomics.add(numbers, COUNT, 1);
}

/** Says that it came back. */
export function endWatched(): void {
  Atomics.add(memory.numbers, COUNT, 1);
}
