/**
 * One line on a terminal that says how far a scan has come; nothing where the output is no terminal.
 */
import type { WriteStream } from 'node:tty';

/** Shortest time between two updates: a terminal is slow and an eye slower. */
const UPDATE_MS = 100;

export class ProgressLine {
  private readonly stream: Pick<WriteStream, 'isTTY' | 'write'>;
  private readonly startedAt = performance.now();
  private shownAt = Number.NEGATIVE_INFINITY;
  private isShown = false;

  constructor(stream: Pick<WriteStream, 'isTTY' | 'write'>) {
    this.stream = stream;
  }

  /** Shows the figures, unless they were just shown. */
  show(examined: number, matched: number, bytes: number): void {
    const now = performance.now();
    if (!this.stream.isTTY || now - this.shownAt < UPDATE_MS) return;
    this.shownAt = now;
    this.isShown = true;
    const mib = bytes / (1024 * 1024);
    const rate = mib / Math.max((now - this.startedAt) / 1000, 0.001);
    this.stream.write(
      `\r\u001b[K${examined.toLocaleString('en')} examined, ${matched.toLocaleString('en')} matched, ` +
        `${mib.toFixed(0)} MiB, ${rate.toFixed(0)} MiB/s`,
    );
  }

  /** Takes the line away, so that other output starts on a clean one. */
  clear(): void {
    if (!this.isShown) return;
    this.isShown = false;
    this.stream.write('\r\u001b[K');
  }
}
