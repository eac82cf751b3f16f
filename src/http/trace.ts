/**
 * What is known of one request from its first byte to its last: identity, times, shard, whether the client is still
 * there, how it ended. It feeds the metrics and the one log line that each request gets (contract: scan-protocol §5).
 *
 * Invariant: a request is counted and logged exactly once, when its reply is closed, whichever way that happens.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { DEFAULT_SHARD } from '../admission/shard.js';
import type { Caller } from '../config/grant.js';
import type { Clock } from '../core/clock.js';
import type { Problem } from '../core/error-codes.js';
import type { Metrics } from '../metrics/metrics.js';
import type { RouteLabel } from '../metrics/table.js';
import type { ScanSlot } from '../run/runner.js';
import { statusOf } from '../wire/problem.js';
import type { RequestAtWork } from './client-error.js';
import type { Log } from './log.js';

/** Operations are asked every few seconds by machines: their lines would bury the others. */
const QUIET_ROUTES: readonly RouteLabel[] = ['livez', 'readyz', 'metrics', 'stats'];

export class RequestTrace implements RequestAtWork {
  readonly requestId = randomUUID();
  readonly arrivedAtMs: number;
  readonly route: RouteLabel;
  /** Aborts when the client goes away before its reply was written whole. */
  readonly gone: AbortSignal;
  shard: string = DEFAULT_SHARD;
  /** Who asks, where callers are asked. */
  caller: Caller | undefined;
  /** `ok`, or the code of the problem in the reply. */
  outcome = 'ok';
  /** Held from the headers on, for scans, and given back when the reply closes, unless the handler took it over. */
  slot: ScanSlot | null = null;

  private readonly reply: ServerResponse;
  /** True once the reply was given up because its client did not take it; the connection's own word is not clear then. */
  private isCut = false;
  /** The problem that went out on the bare connection instead of a reply. */
  private below: Problem | undefined;

  constructor(
    route: RouteLabel,
    reply: ServerResponse,
    clock: Clock,
    metrics: Metrics,
    log: Pick<Log, 'debug' | 'info' | 'error'>,
  ) {
    this.route = route;
    this.reply = reply;
    this.arrivedAtMs = clock.nowMs();
    const gone = new AbortController();
    this.gone = gone.signal;
    this.whenClosed(() => {
      this.slot?.release();
      const isWhole = reply.writableFinished && !this.isCut;
      if (!isWhole) gone.abort();
      const outcome = isWhole ? this.outcome : (this.below?.code ?? 'client_gone');
      const status = this.below === undefined ? reply.statusCode : statusOf(this.below);
      const ms = clock.nowMs() - this.arrivedAtMs;
      metrics.recordRequest(route, outcome, ms);
      const level = outcome === 'backend' ? 'error' : QUIET_ROUTES.includes(route) ? 'debug' : 'info';
      const caller = this.caller === undefined ? {} : { caller: this.caller.name };
      log[level]({ request_id: this.requestId, route, status, outcome, ms, ...caller }, 'request');
    });
  }

  get replyState(): 'not_begun' | 'sending' | 'sent' {
    if (this.reply.writableFinished) return 'sent';
    return this.reply.headersSent ? 'sending' : 'not_begun';
  }

  /** Notes that the reply is given up because its client does not take it. */
  cut(): void {
    this.isCut = true;
  }

  answeredBelow(problem: Problem): void {
    this.below = problem;
  }

  /** Calls back when the reply is closed, whichever way that happens. */
  whenClosed(then: () => void): void {
    this.reply.once('close', then);
  }
}
