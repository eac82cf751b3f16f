/**
 * What a run of the benchmarks consists of. A part is what runs in one process: a case on one thread, or everything that
 * shares the services of one engine.
 */
import type { Figure } from './figures.js';
import { type Case, type CaseResult, measure } from './harness.js';
import { scanCases } from './macro/scan-cases.js';
import { serviceFigures } from './macro/service-figures.js';
import { Services } from './macro/services.js';
import { codecCases } from './micro/codec-cases.js';
import { headerCases } from './micro/header-cases.js';
import { jsonCases } from './micro/json-cases.js';
import { limitCases } from './micro/limit-cases.js';
import { manyCases } from './micro/many-cases.js';
import { mixedCases } from './micro/mixed-cases.js';
import { walkerCases } from './micro/walker-cases.js';
import { ENGINES } from './programs.js';

export interface RunOptions {
  /** 1 is the real size. */
  readonly scale: number;
  readonly rounds: number;
  readonly warmups: number;
  /** Only what has this text in its name. */
  readonly only: string;
}

export interface PartResult {
  readonly results: readonly CaseResult[];
  readonly figures: readonly Figure[];
}

export interface Part {
  /** Unique. */
  readonly key: string;
  /** Names of what is in it; `only` is looked for in them. */
  readonly names: readonly string[];
  run(options: RunOptions): Promise<PartResult>;
}

/** All parts at a scale, in the order in which they are reported. */
export function partsAt(scale: number): Part[] {
  return [...casesAt(scale).map(casePart), ...ENGINES.map((engine) => servicePart(engine, scale))];
}

/** The cases that run on one thread. */
export function casesAt(scale: number): Case[] {
  const cases = [
    ...jsonCases(scale),
    ...walkerCases(scale),
    ...codecCases(scale),
    ...mixedCases(scale),
    ...limitCases(scale),
    ...headerCases(scale),
    ...manyCases(scale),
  ];
  return cases.map((one) => ({ ...one, isOneThread: true }));
}

function casePart(one: Case): Part {
  return {
    key: `${one.engine}: ${one.name}`,
    names: [one.name],
    async run({ rounds, warmups }) {
      return { results: [await measure(one, rounds, warmups)], figures: [] };
    },
  };
}

const FIGURES = 'service figures';

function servicePart(engine: Case['engine'], scale: number): Part {
  const services = new Services(Math.max(2000, Math.round(100_000 * scale)));
  const cases = scanCases(services).filter((one) => one.engine === engine);
  return {
    key: `${engine}: service`,
    names: [...cases.map(({ name }) => name), FIGURES],
    async run({ rounds, warmups, only }) {
      try {
        const results: CaseResult[] = [];
        for (const one of cases) if (one.name.includes(only)) results.push(await measure(one, rounds, warmups));
        const figures = FIGURES.includes(only) ? await serviceFigures(engine, services, scale, rounds) : [];
        return { results, figures };
      } finally {
        await services.close();
      }
    },
  };
}
