/**
 * The datasets are what their descriptions say: sizes, rarities, determinism.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Dataset } from '../../bench/datasets/dataset.js';
import { ORBIT_GROUPS, SELECTIVITY_PERCENTS, selectivityFilter } from '../../bench/datasets/orbit-filters.js';
import { ORBIT_PAYLOAD_BYTES, orbitDataset } from '../../bench/datasets/orbit.js';
import { DEEP_LEVELS, shapeDataset, TINY_BYTES, WIDE_KEYS, type ShapeName } from '../../bench/datasets/shapes.js';
import { webhooksDataset } from '../../bench/datasets/webhooks.js';
import { segmentBytes, sharedSegmentBytes, writeSegmentFile } from '../../bench/datasets/write.js';
import { compileNaive, type NaiveNode } from '../../bench/naive.js';
import { decodeHeaderBlock, textHeaders } from '../../src/segment/header-block.js';
import { drain } from '../support/segment-drain.js';

const ORBIT_COUNT = 10_000;

function textOf(payload: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload);
}

/** Records among the first `count` that the baseline selects by `expr`; payloads that do not parse are not. */
function selected(dataset: Dataset, count: number, expr: unknown): number {
  const test = compileNaive(expr as NaiveNode);
  let matches = 0;
  for (let index = 0; index < count; index += 1) {
    const value = parsed(dataset.record(index).payload);
    if (value !== undefined && test(value)) matches += 1;
  }
  return matches;
}

function parsed(payload: Uint8Array): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(textOf(payload));
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}

function shapeBytes(name: ShapeName): number {
  return shapeDataset(name).record(3).payload.length;
}

function headersOf(dataset: Dataset, index: number) {
  const { headers } = dataset.record(index);
  return textHeaders(decodeHeaderBlock(headers, 0, headers.length) ?? []);
}

describe('orbit', () => {
  const orbit = orbitDataset();

  it('has payloads of 520 to 680 bytes, 600 on average', () => {
    let total = 0;
    for (let index = 0; index < ORBIT_COUNT; index += 1) {
      const { length } = orbit.record(index).payload;
      expect(length >= ORBIT_PAYLOAD_BYTES.min && length <= ORBIT_PAYLOAD_BYTES.max, `record ${index}`).toBe(true);
      total += length;
    }
    expect(total / ORBIT_COUNT).toBeGreaterThan(590);
    expect(total / ORBIT_COUNT).toBeLessThan(615);
  });

  it('holds each payload group exactly as often as it says, also spaced and among broken records', () => {
    for (const dataset of [orbit, orbitDataset({ seed: 9, isSpaced: true }), orbitDataset({ malformedPerMille: 10 })]) {
      for (const group of ORBIT_GROUPS.filter(({ filter }) => filter.codec === 'json')) {
        expect(selected(dataset, 5000, group.filter.expr), group.name).toBe(5 * group.perMille);
      }
    }
  });

  it('holds the group of headers exactly as often as it says', () => {
    let alarms = 0;
    for (let index = 0; index < ORBIT_COUNT; index += 1) {
      const headers = headersOf(orbit, index);
      const severity = headers.get('severity')!;
      if (headers.get('unit')!.value === 'thruster' && severity.kind === 'uint' && severity.value >= 2n) alarms += 1;
    }
    expect(alarms).toBe(10 * ORBIT_GROUPS.find((group) => group.name === 'thruster-alarms')!.perMille);
  });

  it('carries five typed headers, content type JSON first', () => {
    expect([...headersOf(orbit, 5)].map(([key, { kind }]) => `${key} ${kind}`)).toEqual([
      'agdx.ct uint',
      'event.type string',
      'unit string',
      'severity uint',
      'region string',
    ]);
    expect(headersOf(orbit, 5).get('agdx.ct')!.value).toBe(1n);
  });

  it('selects the wanted share with each selectivity variant', () => {
    for (const percent of SELECTIVITY_PERCENTS) {
      const matches = selected(orbit, ORBIT_COUNT, selectivityFilter(percent).expr);
      expect(matches, `${percent} %`).toBe((percent * ORBIT_COUNT) / 100);
    }
  });

  it('stamps each record with its own instant where that is asked for', () => {
    const stamped = orbitDataset({ isStamped: true });
    const at = (index: number): string => JSON.parse(textOf(stamped.record(index).payload)).source.at;
    expect([at(0), at(61_001)]).toEqual(['2026-01-01T00:00:00.000Z', '2026-01-01T00:01:01.001Z']);
    expect(selected(stamped, 1000, ORBIT_GROUPS[0]!.filter.expr)).toBe(ORBIT_GROUPS[0]!.perMille);
  });

  it('varies key order, escapes and text beyond ASCII', () => {
    const orders = new Set<string>();
    let escaped = 0;
    let foreign = 0;
    for (let index = 0; index < 1000; index += 1) {
      const text = textOf(orbit.record(index).payload);
      orders.add(Object.keys(JSON.parse(text)).join());
      if (text.includes('\\')) escaped += 1;
      if (Buffer.byteLength(text) > text.length) foreign += 1;
    }
    expect(orders.size).toBeGreaterThan(500);
    expect(escaped).toBeGreaterThan(200);
    expect(foreign).toBeGreaterThan(100);
  });

  it('breaks as many payloads as asked and changes nothing else', () => {
    const broken = orbitDataset({ malformedPerMille: 10 });
    let faults = 0;
    for (let index = 0; index < 2000; index += 1) {
      const { payload } = broken.record(index);
      if (parsed(payload) === undefined) faults += 1;
      else expect(Buffer.compare(payload, orbit.record(index).payload)).toBe(0);
    }
    expect(faults).toBe(20);
  });

  it('says the same with spaces as without', () => {
    const spaced = orbitDataset({ isSpaced: true });
    for (let index = 0; index < 200; index += 1) {
      const content = JSON.parse(textOf(orbit.record(index).payload));
      const text = textOf(spaced.record(index).payload);
      const other = JSON.parse(text);
      expect({ ...other, remark: '' }).toEqual({ ...content, remark: '' });
      expect(text).not.toMatch(/":[^ ]/);
    }
  });

  it('is the same for the same seed in any order, and another for another', () => {
    const again = orbitDataset();
    for (const index of [777, 3, 12_345, 0]) expect(again.record(index)).toEqual(orbit.record(index));
    expect(orbitDataset({ seed: 2 }).record(3).payload).not.toEqual(orbit.record(3).payload);
  });
});

describe('webhooks', () => {
  it('holds the package’s payloads as real JSON, each once in a cycle, kinds mixed', () => {
    const webhooks = webhooksDataset();
    const kinds = new Set<unknown>();
    const payloads = new Set<string>();
    for (let index = 0; index < 329; index += 1) {
      const { payload } = webhooks.record(index);
      payloads.add(textOf(payload));
      expect(typeof JSON.parse(textOf(payload))).toBe('object');
      kinds.add(headersOf(webhooks, index).get('event.type')!.value);
    }
    expect(kinds.size).toBe(58);
    expect(payloads.size).toBeGreaterThan(300);
    expect(webhooks.record(329).payload).toEqual(webhooks.record(0).payload);
    const first = Array.from({ length: 10 }, (_, index) => headersOf(webhooks, index).get('event.type')!.value);
    expect(new Set(first).size).toBeGreaterThan(5);
  });

  it('carries the action of a payload as a header where there is one', () => {
    const webhooks = webhooksDataset();
    for (let index = 0; index < 100; index += 1) {
      const { action } = JSON.parse(textOf(webhooks.record(index).payload));
      expect(headersOf(webhooks, index).get('action')?.value).toBe(action);
    }
  });
});

describe('shapes', () => {
  it('are valid JSON that carries the record’s number', () => {
    const names: ShapeName[] = ['deep', 'wide', 'long-text', 'escapes', 'numbers', 'tiny', 'document'];
    for (const name of names) {
      for (const index of [0, 1, 77]) {
        expect(JSON.parse(textOf(shapeDataset(name).record(index).payload)).id, name).toBe(index);
      }
    }
  });

  it('have the depth, width and size they are named for', () => {
    const deep = textOf(shapeDataset('deep').record(3).payload);
    expect(deep.replaceAll(/[^[{]/g, '').length).toBe(DEEP_LEVELS);
    expect(Object.keys(JSON.parse(textOf(shapeDataset('wide').record(3).payload))).length).toBe(WIDE_KEYS);
    expect(shapeBytes('long-text')).toBeGreaterThan(900_000);
    expect(shapeBytes('long-text')).toBeLessThan(1 << 20);
    expect(shapeBytes('tiny')).toBe(TINY_BYTES);
    expect(Math.abs(shapeBytes('document') - 29_000)).toBeLessThan(300);
  });
});

describe('segments of a dataset', () => {
  it('hold the same bytes in memory, shared and on disk, in both formats, with records larger than a chunk', () => {
    const folder = mkdtempSync(join(tmpdir(), 'winnow-datasets-'));
    try {
      for (const dataset of [orbitDataset(), shapeDataset('long-text')]) {
        for (const format of ['iggy', 'ndjson'] as const) {
          const options = { firstIndex: 5, firstOffset: 100, hasChecksums: true };
          const bytes = segmentBytes(dataset, format, 3, options);
          const shared = new Uint8Array(sharedSegmentBytes(dataset, format, 3, options));
          expect(Buffer.compare(bytes, shared)).toBe(0);
          const path = join(folder, 'segment');
          expect(writeSegmentFile(dataset, format, 3, path, options)).toBe(bytes.length);
          expect(Buffer.compare(readFileSync(path), bytes)).toBe(0);
          const drained = drain(format, bytes, { baseOffset: 100, verifyChecksums: true });
          expect(drained.offsets).toEqual([100, 101, 102]);
          expect(drained.ending).toBe('end');
          const same = drained.payloads.map((payload, step) =>
            Buffer.compare(payload, dataset.record(5 + step).payload),
          );
          expect(same).toEqual([0, 0, 0]);
        }
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
