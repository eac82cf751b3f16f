/**
 * Compiled patterns of one worker, least recently used out (contract: scan-protocol §4).
 *
 * A filter is checked by compiling its patterns and then runs them, and brokers send the same filters again and again:
 * each pattern is compiled once. A pattern that is dropped here lives on as long as a program holds it.
 */
import { PATTERNS_PER_WORKER_MAX } from '../core/limits.js';
import type { CompiledRegex, RegexEngine } from '../filter/regex.js';

export class PatternCache implements RegexEngine {
  private readonly engine: RegexEngine;
  private readonly kept = new Map<string, CompiledRegex>();

  constructor(engine: RegexEngine) {
    this.engine = engine;
  }

  /** The pattern, compiled now or before. Throws what the engine throws; refused patterns are not kept. */
  compile(pattern: string, caseInsensitive: boolean): CompiledRegex {
    const key = patternKey(pattern, caseInsensitive);
    const known = this.kept.get(key);
    const compiled = known ?? this.engine.compile(pattern, caseInsensitive);
    // A map keeps insertion order: taking out and putting back makes this the most recently used.
    this.kept.delete(key);
    this.kept.set(key, compiled);
    if (this.kept.size > PATTERNS_PER_WORKER_MAX) this.kept.delete(this.kept.keys().next().value!);
    return compiled;
  }

  /** Patterns kept now. */
  get size(): number {
    return this.kept.size;
  }
}

/** Two patterns with the same key compile to the same thing. */
export function patternKey(pattern: string, caseInsensitive: boolean): string {
  return `${caseInsensitive ? 'i' : '-'}${pattern}`;
}
