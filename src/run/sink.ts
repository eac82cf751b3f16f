/**
 * Where a scan's reply goes, as whole frames of bytes: the HTTP reply, or a command line that prints.
 *
 * Calls come in this order: `begin` (framed replies only), then `page` and `progress` in any order, then exactly one of
 * `end` and `error` (framed replies only; a single page is its own end). Before the first call nothing of a reply exists
 * and a refusal can still become a status.
 */
export interface ScanSink {
  /** The first frame. */
  begin(frame: Uint8Array): void;
  /** One page: a frame, or the whole body of a single-page reply. */
  page(frame: Uint8Array): void;
  progress(frame: Uint8Array): void;
  /** The last frame of a reply that went to its end. */
  end(frame: Uint8Array): void;
  /** The last frame of a reply that met damage or lost its worker. */
  error(frame: Uint8Array): void;
  /** True while the receiver takes what it is sent: only then is a progress frame worth sending. */
  readonly isDrained: boolean;
  /**
   * Resolves when the receiver has taken enough to be sent more, or is gone; at once if it already has. Looked at
   * between slices: a slow receiver stops its own scan and holds no worker.
   */
  drained(): Promise<void>;
}
