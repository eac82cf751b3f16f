/**
 * The service's log: JSON lines on standard error (contract: scan-protocol §5), and the only user of the log library.
 *
 * Standard output stays free for what other programs read (the `listening` line, a command's result). No line carries a
 * payload or a header's value: callers log fields that they name, never a request.
 */
import { pino } from 'pino';
import type { Config } from '../config/load.js';

/** Where the service writes. Callers name every field; no line carries a payload or a header's value. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Opens the log. Lines are written without blocking the event loop; `flush` writes out the rest before an exit. */
export function openLog(level: Config['log']['level']): Log & { flush(): void } {
  const destination = pino.destination({ fd: 2, sync: false });
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    flush: () => destination.flushSync(),
  };
}

/** A fault as the log may hold it: its kind and its places in the code, without its message, which could quote data. */
export function faultPlace(fault: unknown): string {
  if (!(fault instanceof Error)) return typeof fault;
  const places = (fault.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return [fault.name, ...places].join('\n');
}
