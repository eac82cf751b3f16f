/**
 * How fast capacity comes back, measured from recent releases: the source of `Retry-After` (contract: scan-protocol §4).
 *
 * Pure: instants come in. The estimate never promises less than a second and never sends a caller away for more than a
 * minute, because it is a hint about a queue, not a reservation.
 */

/** Releases remembered: enough to smooth a burst, few enough to follow a change within a few dozen scans. */
const RELEASES_KEPT = 32;

/** Shortest and longest `Retry-After` in seconds: whole seconds are all the header carries; no deadline exceeds 60 s. */
export const RETRY_AFTER_S_MIN = 1;
export const RETRY_AFTER_S_MAX = 60;

/** A window of release instants. */
export class DrainRate {
  private readonly releasedAtMs: number[] = [];

  /** Notes that one holder gave its units back at `nowMs`. */
  note(nowMs: number): void {
    this.releasedAtMs.push(nowMs);
    if (this.releasedAtMs.length > RELEASES_KEPT) this.releasedAtMs.shift();
  }

  /**
   * Seconds until about `ahead + 1` releases will have happened, within 1…60. Without a release so far it is 1: the
   * service has just begun to be busy.
   */
  retryAfterS(ahead: number, nowMs: number): number {
    const first = this.releasedAtMs[0];
    if (first === undefined) return RETRY_AFTER_S_MIN;
    // Silence since the last release counts: a rate measured long ago says little about capacity that is stuck now.
    const spanMs = Math.max(nowMs - first, 1);
    const seconds = Math.ceil((((ahead + 1) / this.releasedAtMs.length) * spanMs) / 1000);
    return Math.min(Math.max(seconds, RETRY_AFTER_S_MIN), RETRY_AFTER_S_MAX);
  }
}
