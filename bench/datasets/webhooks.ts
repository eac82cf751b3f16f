/**
 * Dataset `webhooks`: the real payloads of the npm package `@octokit/webhooks-examples`, cycled without end.
 *
 * Nobody tuned them to this service: 58 kinds of event, 329 payloads of 1–27 KB. Headers: `agdx.ct` uint8,
 * `event.type` text (the kind, e.g. `pull_request`), `action` text where the payload has one.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { encodeHeaders, type HeaderInput } from '../../src/segment/header-encode.js';
import type { Dataset, DatasetRecord } from './dataset.js';

interface WebhookDefinition {
  readonly name: string;
  readonly examples: readonly Record<string, unknown>[];
}

const FIRST_TIMESTAMP = 1_767_225_600_000_000n;

/**
 * The dataset. Payloads are compact JSON; record `index` is payload `index mod 329`, taken kind after kind in steps
 * that spread kinds, so that no kind comes in one run.
 */
export function webhooksDataset(): Dataset {
  const path = createRequire(import.meta.url).resolve('@octokit/webhooks-examples');
  const definitions = JSON.parse(readFileSync(path, 'utf8')) as WebhookDefinition[];
  const records: Omit<DatasetRecord, 'timestamp'>[] = [];
  for (const { name, examples } of definitions) {
    for (const example of examples) {
      records.push({ payload: Buffer.from(JSON.stringify(example)), headers: headersOf(name, example) });
    }
  }
  const step = stepFor(records.length);
  return {
    name: 'webhooks',
    record(index) {
      const chosen = records[(index * step) % records.length]!;
      return { ...chosen, timestamp: FIRST_TIMESTAMP + 1_000_000n * BigInt(index) };
    },
  };
}

function headersOf(name: string, example: Record<string, unknown>): Uint8Array {
  const entries: HeaderInput[] = [
    { key: 'agdx.ct', value: { kind: 'u8', value: 1 } },
    { key: 'event.type', value: { kind: 'string', value: name } },
  ];
  const action = example['action'];
  if (typeof action === 'string') entries.push({ key: 'action', value: { kind: 'string', value: action } });
  return encodeHeaders(entries);
}

/** A step near the golden section of `count`, which lands far from where the last steps did and visits every payload before any comes again. */
function stepFor(count: number): number {
  let step = Math.round(count * 0.382);
  while (greatestCommonDivisor(step, count) !== 1) step += 1;
  return step;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
