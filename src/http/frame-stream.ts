/**
 * The receiver of a scan over HTTP: frames straight to the socket, or the one page kept until it is whole.
 */
import type { ServerResponse } from 'node:http';
import type { ScanSink } from '../run/sink.js';

/**
 * Cuts a finished reply that its client does not take within `timeoutMs`, and says so first. Its scan is over and holds
 * nothing any more; what it sent must not wait in memory for a client that never reads.
 */
export function cutWhenNotTaken(reply: ServerResponse, timeoutMs: number, onCut: () => void): void {
  if (reply.closed) return;
  const cut = setTimeout(() => {
    onCut();
    reply.destroy();
  }, timeoutMs);
  reply.once('close', () => clearTimeout(cut));
}

/** Writes frames as they come. The status line leaves with the first of them. */
export class FrameStream implements ScanSink {
  private readonly reply: ServerResponse;
  private readonly type: string;

  constructor(reply: ServerResponse, type: string) {
    this.reply = reply;
    this.type = type;
  }

  begin(frame: Uint8Array): void {
    this.reply.writeHead(200, { 'content-type': this.type });
    this.reply.write(frame);
  }

  page(frame: Uint8Array): void {
    this.reply.write(frame);
  }

  progress(frame: Uint8Array): void {
    this.reply.write(frame);
  }

  end(frame: Uint8Array): void {
    this.reply.end(frame);
  }

  error(frame: Uint8Array): void {
    this.end(frame);
  }

  get isDrained(): boolean {
    return !this.reply.writableNeedDrain && !this.reply.destroyed;
  }

  drained(): Promise<void> {
    if (this.isDrained || this.reply.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.reply.off('drain', done).off('close', done);
        resolve();
      };
      this.reply.on('drain', done).on('close', done);
    });
  }
}

/** Keeps the page of a single-page reply. */
export class PageKeeper implements ScanSink {
  readonly isDrained = true;
  /** The whole body, once it is there. */
  body: Uint8Array | undefined;

  begin(): void {
    throw new Error('a single page has no frames');
  }

  page(frame: Uint8Array): void {
    if (this.body !== undefined) throw new Error('a single-page reply has one page');
    this.body = frame;
  }

  progress(): void {
    throw new Error('a single page has no frames');
  }

  end(): void {
    throw new Error('a single page has no frames');
  }

  error(): void {
    throw new Error('a single page has no frames');
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }
}
