/** Payloads to damage: those of the conformance corpora, of the two datasets, and small random ones. */
import { orbitDataset } from '../../bench/datasets/orbit.js';
import { webhooksDataset } from '../../bench/datasets/webhooks.js';
import type { Value } from '../../src/codec/value.js';
import { comparePaths, type Path } from '../../src/core/path.js';
import { recordCases } from './cases.js';
import { ANY_DOCUMENT, randomJson } from './random-json.js';
import type { Seeded } from './seeded.js';

const utf8 = new TextEncoder();
const WEBHOOK_PAYLOADS = 329;

/** Every payload of the three corpora that have some, once. */
export function corpusPayloads(): Uint8Array[] {
  const payloads = new Map<string, Uint8Array>();
  for (const file of ['laser-eval-json', 'laser-eval-headers', 'laser-explain'] as const) {
    for (const { payload } of recordCases(file)) payloads.set(Buffer.from(payload).toString('latin1'), payload);
  }
  return [...payloads.values()];
}

/** The first `orbit` change records and `webhooks` events of the datasets. */
export function datasetPayloads(orbit: number, webhooks: number): Uint8Array[] {
  const take = (dataset: ReturnType<typeof orbitDataset>, count: number) =>
    Array.from({ length: count }, (_, index) => dataset.record(index).payload);
  return [...take(orbitDataset(), orbit), ...take(webhooksDataset(), Math.min(webhooks, WEBHOOK_PAYLOADS))];
}

/** The corpora's payloads of at most `maxBytes` but one, and random documents of `minBytes` and more up to `count`. */
export function shortPayloads(random: Seeded, count: number, minBytes: number, maxBytes: number): Uint8Array[] {
  const payloads = corpusPayloads().filter((payload) => payload.length > 0 && payload.length <= maxBytes);
  while (payloads.length < count) {
    const payload = utf8.encode(randomJson(random, ANY_DOCUMENT));
    if (payload.length >= minBytes && payload.length <= maxBytes) payloads.push(payload);
  }
  return payloads;
}

/** Up to `count` paths that lead somewhere in `value`, spread over it, and beside each one that leads nowhere; in order. */
export function pathsWithin(value: Value, count: number): Path[] {
  const all: Path[] = [];
  const visit = (at: Value, path: Path): void => {
    all.push(path);
    if (Array.isArray(at)) for (const [index, item] of at.entries()) visit(item, [...path, index]);
    else if (at instanceof Map) for (const [key, item] of at) visit(item, [...path, key]);
  };
  visit(value, []);
  const step = Math.max(1, Math.floor(all.length / count));
  const chosen = all.filter((_, index) => index % step === 0).slice(0, count);
  return pathsInOrder(chosen.flatMap((path) => [path, missBeside(path)]));
}

function missBeside(path: Path): Path {
  const last = path.at(-1);
  if (last === undefined) return ['nowhere'];
  return [...path.slice(0, -1), typeof last === 'number' ? last + 1000 : `${last}x`];
}

/** As a walker takes them: in order, each once. */
export function pathsInOrder(paths: readonly Path[]): Path[] {
  const sorted = [...paths].sort(comparePaths);
  return sorted.filter((path, index) => index === 0 || comparePaths(sorted[index - 1]!, path) !== 0);
}
