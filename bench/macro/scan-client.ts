/**
 * A bare client for timing: MessagePack bodies over one kept connection, the reply handed over as it came.
 */
import { Agent, request } from 'node:http';
import { decodeMsgpackFrames, encodeMsgpack } from '../../src/wire/msgpack.js';

/** What the measurements look at in a frame of a reply. */
export interface ReplyFrame {
  readonly frame?: string;
  readonly examined?: number;
  readonly matched?: number;
  readonly records?: { readonly offsets: readonly number[] };
  readonly filters?: readonly { readonly id: string; readonly stop: string; readonly continuation: string }[];
  readonly stop?: string;
  readonly continuation?: string;
}

export class ScanClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  private readonly address: string;

  constructor(address: string) {
    this.address = address;
  }

  /** Posts a scan and resolves with the whole body of its reply. Rejects unless it is answered 200. */
  post(body: Uint8Array, accept: string): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/msgpack', 'content-length': body.length, accept };
      const sent = request(`${this.address}/v1/scan`, { method: 'POST', agent: this.agent, headers }, (reply) => {
        const chunks: Buffer[] = [];
        reply.on('data', (chunk: Buffer) => chunks.push(chunk));
        reply.on('error', reject);
        reply.on('end', () => {
          const bytes = Buffer.concat(chunks);
          if (reply.statusCode === 200) resolve(bytes);
          else reject(new Error(`a scan was answered ${reply.statusCode}: ${bytes.toString('latin1').slice(0, 500)}`));
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** Posts a scan that is to run to the end of its segments, and resolves with the frames of its reply. */
  async scanToEnd(body: Uint8Array): Promise<readonly ReplyFrame[]> {
    return framesToEnd(await this.postForFrames(body));
  }

  /** Posts a scan and resolves with the frames of its reply as they came, for {@link framesToEnd}. */
  postForFrames(body: Uint8Array): Promise<Buffer> {
    return this.post(body, 'application/vnd.winnow.frames+msgpack');
  }

  /** The text of `/metrics`. */
  async metrics(): Promise<string> {
    return (await fetch(`${this.address}/metrics`)).text();
  }

  close(): void {
    this.agent.destroy();
  }
}

/** The frames of a reply to a scan that was to run to the end of its segments. Throws if it did not. */
export function framesToEnd(reply: Buffer): readonly ReplyFrame[] {
  const frames = decodeMsgpackFrames(reply) as ReplyFrame[];
  const stops = new Set(frames.at(-1)?.filters?.map(({ stop }) => stop));
  if (stops.size !== 1 || !stops.has('end_of_visible')) throw new Error(`a scan ended by ${[...stops].join()}`);
  return frames;
}

/** The members that every request here has, with budgets that let a scan run to its end. */
export function scanBody(parts: Record<string, unknown>): Uint8Array {
  return encodeMsgpack({
    v: 1,
    source: { stream: 'bench', topic: 'orbit' },
    partition_id: 0,
    count: 1000,
    max_reply_bytes: 8 * 1024 * 1024,
    max_examined: 1_000_000,
    max_examined_bytes: 1024 * 1024 * 1024,
    deadline_ms: 60_000,
    pages: 10_000,
    ...parts,
  });
}
