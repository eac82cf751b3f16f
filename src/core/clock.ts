/**
 * Time as a value that is handed in, so that pure rooms and tests decide what time it is.
 *
 * `nowMs` is monotonic inside one process and comparable across its threads: milliseconds since the epoch by
 * `performance.timeOrigin + performance.now()`, never stepped by the wall clock.
 */
export interface Clock {
  nowMs(): number;
}
