/**
 * Where log lines go: a file descriptor that may be slow, full or closed, and that the service must not wait for.
 *
 * Own writing instead of the log library's: that one tries a failed write again for ever when the process ends, so a full
 * disk would keep it from ending.
 *
 * Invariants: lines leave in order; the event loop never blocks on them; at most `LOG_BYTES_MAX` characters wait, and
 * what comes beyond is dropped; a failed write costs its lines and nothing else.
 */
import { write } from 'node:fs';
import { LOG_BYTES_MAX } from '../core/limits.js';

/** Pause before a descriptor that takes nothing at the moment is tried again, in ms. */
const RETRY_MS = 20;

export class LogStream {
  private readonly fd: number;
  private waiting: string[] = [];
  private waitingLength = 0;
  private isWriting = false;
  private onIdle: (() => void)[] = [];

  constructor(fd: number) {
    this.fd = fd;
  }

  /** Takes one line with its end. */
  write(line: string): void {
    if (this.waitingLength + line.length > LOG_BYTES_MAX) return;
    this.waiting.push(line);
    this.waitingLength += line.length;
    if (!this.isWriting) this.writeWaiting();
  }

  /** Resolves when everything was written or lost, at the latest after `flushMsMax` milliseconds. */
  flush(flushMsMax: number): Promise<void> {
    if (!this.isWriting) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, flushMsMax);
      this.onIdle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  private writeWaiting(): void {
    this.isWriting = this.waiting.length > 0;
    if (!this.isWriting) {
      for (const idle of this.onIdle.splice(0)) idle();
      return;
    }
    const bytes = Buffer.from(this.waiting.join(''));
    this.waiting = [];
    this.waitingLength = 0;
    this.writeBytes(bytes);
  }

  private writeBytes(bytes: Uint8Array): void {
    write(this.fd, bytes, 0, bytes.length, null, (fault, written) => {
      if (fault?.code === 'EAGAIN') setTimeout(() => this.writeBytes(bytes), RETRY_MS);
      else if (fault === null && written < bytes.length) this.writeBytes(bytes.subarray(written));
      // There is nowhere to say that a line was lost; the next ones try again.
      else this.writeWaiting();
    });
  }
}
