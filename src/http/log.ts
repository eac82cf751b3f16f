/**
 * The service's log: JSON lines on standard error (contract: scan-protocol §5), and the only user of the log library.
 *
 * Standard output stays free for what other programs read (the `listening` line, a command's result). No line carries a
 * payload or a header's value: callers log fields that they name, never a request.
 */
import { pino } from 'pino';
import type { Config } from '../config/load.js';
import { LogStream } from './log-stream.js';

/** Where the service writes. Callers name every field; no line carries a payload or a header's value. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Longest wait for the rest of the log before an exit, in ms. */
const FLUSH_MS_MAX = 1_000;

/**
 * Opens the log. Lines are written without blocking the event loop; `flush` waits, for a second at most, until the rest
 * is written. A log that cannot be written (a full disk, a closed pipe) costs lines and nothing else.
 */
export function openLog(level: Config['log']['level']): Log & { flush(): Promise<void> } {
  const stream = new LogStream(STDERR);
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    flush: () => stream.flush(FLUSH_MS_MAX),
  };
}

/** The descriptor of standard error. */
const STDERR = 2;

/** A fault as the log may hold it: its kind and its places in the code, without its message, which could quote data. */
export function faultPlace(fault: unknown): string {
  if (!(fault instanceof Error)) return typeof fault;
  const places = (fault.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return [fault.name, ...places].join('\n');
}
