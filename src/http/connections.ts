/**
 * The connections: how many, how long each may take for what, which requests are at work on them, and what becomes of
 * one that breaks before it is a request (contract: scan-protocol §3, §5).
 *
 * Invariant: a request that breaks is counted and logged once, like every other: under its own id where it had begun,
 * under a new one where it never became a request. A connection that says nothing in time counts as a late request.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../config/load.js';
import type { Clock } from '../core/clock.js';
import type { Metrics } from '../metrics/metrics.js';
import { statusOf } from '../wire/problem.js';
import { answerClientError } from './client-error.js';
import type { Log } from './log.js';
import type { RequestTrace } from './trace.js';

/** The platform looks for late requests this often, in ms: a time limit is kept to within it, and at most doubled. */
const LATE_CHECK_MS_MAX = 1_000;

/** Closed connections are told of at most this often, in ms: a flood of them must not become a flood of lines. */
const DROP_LOG_MS = 10_000;

export class Connections {
  private readonly config: Config['http'];
  private readonly clock: Clock;
  private readonly metrics: Metrics;
  private readonly log: Pick<Log, 'info' | 'warn'>;
  private readonly atWork = new WeakMap<Socket, Set<RequestTrace>>();
  /** When a connection was opened, or its last reply ended. */
  private readonly idleSinceMs = new WeakMap<Socket, number>();
  private dropped = 0;
  private dropsLoggedAtMs = -Infinity;

  constructor(config: Config['http'], clock: Clock, metrics: Metrics, log: Pick<Log, 'info' | 'warn'>) {
    this.config = config;
    this.clock = clock;
    this.metrics = metrics;
    this.log = log;
  }

  /** What the platform's server keeps to, in its own names. */
  get serverOptions() {
    const { headersBytesMax, headersTimeoutMs, requestTimeoutMs } = this.config;
    const headersTimeout = Math.min(headersTimeoutMs, requestTimeoutMs);
    return {
      maxHeaderSize: headersBytesMax,
      headersTimeout,
      connectionsCheckingInterval: Math.min(headersTimeout, LATE_CHECK_MS_MAX),
      // Checked by the app: the platform's own refusal is no problem document.
      requireHostHeader: false,
    };
  }

  /** Bounds the connections of a server. */
  watch(server: Server): void {
    server.maxConnections = this.config.connectionsMax;
    server.on('connection', (socket) => this.idleSinceMs.set(socket, this.clock.nowMs()));
    server.on('drop', () => this.noteDrop());
  }

  /** Notes that a request is at work on its connection, until its reply closes. */
  note({ socket }: IncomingMessage, trace: RequestTrace): void {
    const atWork = this.atWork.get(socket) ?? new Set();
    this.atWork.set(socket, atWork.add(trace));
    trace.whenClosed(() => {
      atWork.delete(trace);
      this.idleSinceMs.set(socket, this.clock.nowMs());
    });
  }

  /** Answers what the platform could not take for a request, or not in time. */
  refuseBroken(error: { readonly code?: string }, socket: Socket): void {
    const nowMs = this.clock.nowMs();
    const refused = answerClientError(error, socket, this.atWork.get(socket) ?? [], this.config.headersBytesMax);
    if (refused === undefined) return;
    const ms = nowMs - (this.idleSinceMs.get(socket) ?? nowMs);
    const { problem, requestId } = refused;
    this.metrics.recordRequest('other', problem.code, ms);
    const fields = { request_id: requestId, route: 'other', status: statusOf(problem), outcome: problem.code, ms };
    this.log.info(fields, 'request');
  }

  private noteDrop(): void {
    this.dropped += 1;
    const nowMs = this.clock.nowMs();
    if (nowMs - this.dropsLoggedAtMs < DROP_LOG_MS) return;
    this.log.warn(
      { dropped: this.dropped, limit: this.config.connectionsMax },
      'connections over the limit were closed',
    );
    this.dropsLoggedAtMs = nowMs;
    this.dropped = 0;
  }
}
