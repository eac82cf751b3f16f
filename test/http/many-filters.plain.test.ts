/**
 * Several filters in one scan over HTTP, with real workers: whose page is whose, the forms of reply that fit, what the
 * metrics say, and going on with one of them.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { ask, scanBody, serviceWith, stat, stopServices } from '../support/http-service.js';

afterEach(stopServices);

const STREAM = { accept: 'application/x-ndjson' };
const LINES = Array.from({ length: 60 }, (_, i) => `{"n":${i % 6}}\n`).join('');

function filter(n: number): object {
  const expr = { pred: { field: 'n', op: 'eq', value: { kind: 'int', value: n } } };
  return { v: 1, evaluator_version: 1, expr, codec: 'json' };
}

const filters = Array.from({ length: 6 }, (_, n) => ({ id: `n-${n}`, filter: filter(n), start: { offset: n * 10 } }));

function request(more: object = {}): string {
  return scanBody({
    segments: [{ format: 'ndjson', bytes: Buffer.from(LINES).toString('base64') }],
    filters,
    reply: 'offsets',
    ...more,
  });
}

interface Frame {
  readonly frame: string;
  readonly id: string;
  readonly stop: string;
  readonly offsets: number[];
  readonly continuation: string;
  readonly filters: { readonly id: string; readonly stop: string; readonly totals: object }[];
}

function frames(text: string): Frame[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Frame);
}

/** Offsets of the records that filter `n` wants, from its start on. */
function wanted(n: number): number[] {
  return Array.from({ length: 60 }, (_, offset) => offset).filter((offset) => offset % 6 === n && offset >= n * 10);
}

describe('a scan with several filters', () => {
  it('streams the pages of each, ends each by itself, and counts pairs and what the index spared', async () => {
    const service = await serviceWith();
    const reply = await ask(service, { body: request(), headers: STREAM });
    expect(reply.status).toBe(200);
    const all = frames(reply.text);
    expect(all[0]).toMatchObject({ frame: 'begin', filters: filters.map(({ id }) => ({ id })) });
    const pages = all.filter(({ frame }) => frame === 'page');
    for (const [n, { id }] of filters.entries()) {
      const offsets = pages.filter((page) => page.id === id).flatMap((page) => page.offsets);
      expect({ id, offsets }).toEqual({ id, offsets: wanted(n) });
    }
    const end = all.at(-1)!;
    expect(end.frame).toBe('end');
    expect(end.filters.map(({ id, stop }) => [id, stop])).toEqual(filters.map(({ id }) => [id, 'end_of_visible']));
    const examined = filters.reduce((sum, _, n) => sum + 60 - n * 10, 0);
    const matched = filters.reduce((sum, _, n) => sum + wanted(n).length, 0);
    expect(await stat(service, 'winnow_records_scanned_total')).toBe(60);
    expect(await stat(service, 'winnow_records_examined_total', { codec: 'json' })).toBe(examined);
    expect(await stat(service, 'winnow_records_skipped_total', { by: 'index' })).toBe(examined - matched);
  });

  it('has no single page to be asked for', async () => {
    const service = await serviceWith();
    const reply = await ask(service, { body: request(), headers: { accept: 'application/json' } });
    expect(reply.status).toBe(406);
  });

  it('goes on with one of them where its page ended', async () => {
    const service = await serviceWith();
    const first = frames((await ask(service, { body: request({ count: 2 }), headers: STREAM })).text);
    const page = first.find(({ frame, id }) => frame === 'page' && id === 'n-3')!;
    expect([page.stop, page.offsets]).toEqual(['filled', wanted(3).slice(0, 2)]);
    const start = { continue: page.continuation };
    const body = request({ filters: [{ id: 'n-3', filter: filter(3) }], start });
    const rest = JSON.parse((await ask(service, { body })).text) as Frame;
    expect(rest.offsets).toEqual(wanted(3).slice(2));
  });
});
