/**
 * The compiled worker behind the real pool: slices, `validate` and `test` over threads, page bytes moved, and no start
 * where strings could become code.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ScanPool } from '../../src/pool/scan-pool.js';
import { planTest, planValidate } from '../../src/scan/plan-filter.js';
import type { SliceReply, SliceTask } from '../../src/scan/task.js';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import type { TestReply, ValidateReply } from '../../src/wire/filter-request.js';
import { encodeMsgpack } from '../../src/wire/msgpack.js';
import { workerModules } from '../support/kernel.js';
import { planOf, WIDE_BOUNDS } from '../support/scan-harness.js';

const WORKER = new URL('../../dist/workers/scan-worker.js', import.meta.url);
const THREAD = new URL('../../dist/src/pool/thread.js', import.meta.url);
const FILTER =
  '{"v":1,"evaluator_version":1,"expr":{"pred":{"field":"n","op":"eq","value":{"kind":"int","value":1}}},"codec":"json"}';

const store = mkdtempSync(join(tmpdir(), 'winnow-worker-'));
let pool: ScanPool;

beforeAll(async () => {
  const records = ['{"n":1}', '{"n":2}', '{"n":1}'].map((text, offset) => ({ offset, payload: Buffer.from(text) }));
  writeFileSync(join(store, '0.log'), encodeIggySegment(records));
  pool = await ScanPool.start(
    {
      workers: 2,
      setup: { stores: { data: store }, continuationKeys: [new Uint8Array(32).fill(7)], modules: workerModules },
      killAfterMs: 30_000,
      onRestart: () => undefined,
      onFault: () => undefined,
      workerUrl: WORKER,
      threadUrl: THREAD,
    },
    planValidate({ filter: FILTER }),
  );
});

afterAll(async () => {
  await pool.close();
  rmSync(store, { recursive: true });
});

function sliceTask(request: object): SliceTask {
  const { spec } = planOf(request, { encoding: 'json' });
  const bytes = encodeMsgpack(spec);
  const shared = new SharedArrayBuffer(bytes.length);
  new Uint8Array(shared).set(bytes);
  return {
    kind: 'slice',
    scanKey: JSON.stringify(request),
    spec: shared,
    control: new SharedArrayBuffer(16),
    inline: [],
    state: null,
    bounds: { ...WIDE_BOUNDS, recordsMax: 1 },
    deadlineAtMs: performance.timeOrigin + performance.now() + 60_000,
  };
}

const REQUEST = {
  v: 1,
  source: { stream: 's', topic: 't' },
  partition_id: 0,
  segments: [{ format: 'iggy', store: 'data', path: '0.log' }],
  filters: [{ id: 'f', filter: FILTER }],
};

describe('a worker', () => {
  test('scans a stored segment, slice by slice, over whichever thread is free', async () => {
    let task = sliceTask(REQUEST);
    for (let slices = 1; ; slices += 1) {
      const reply = await pool.run<SliceReply>(task);
      if ('problem' in reply) throw new Error(reply.problem.detail);
      if (!reply.ok.done) {
        task = { ...task, state: reply.ok.state };
        continue;
      }
      const page = JSON.parse(Buffer.from(reply.ok.pages[0]!.bytes).toString('utf8')) as Record<string, unknown>;
      expect(page).toMatchObject({ matched: 2, examined: 3, stop: 'end_of_visible' });
      expect(slices).toBeGreaterThan(2);
      return;
    }
  });

  test.each([
    [{ segments: [{ format: 'iggy', store: 'data', path: 'none.log' }] }, 'not_found', '/segments/0/path'],
    [{ segments: [{ format: 'iggy', store: 'other', path: '0.log' }] }, 'not_found', '/segments/0/store'],
    [{ segments: [{ format: 'iggy', store: 'data', path: '../0.log' }] }, 'invalid_request', '/segments/0/path'],
    [{ filters: [{ id: 'f', filter: '{}' }] }, 'invalid_request', '/filters/0/filter'],
  ])('answers the faulty request %# with its problem', async (more, code, field) => {
    const reply = await pool.run(sliceTask({ ...REQUEST, ...more }));
    expect('problem' in reply && reply.problem).toMatchObject({ code, field: expect.stringContaining(field) });
  });

  test('validates a filter', async () => {
    const reply = await pool.run<ValidateReply>(planValidate({ filter: FILTER }));
    expect('ok' in reply && reply.ok).toMatchObject({ reads_payload: true, reads_headers: false, paths: ['n'] });
  });

  test('tests a filter on a record', async () => {
    const record = JSON.stringify({ payload_text: '{"n":1}' });
    const reply = await pool.run<TestReply>(planTest({ filter: FILTER, record }));
    expect('ok' in reply && reply.ok.explanation).toEqual({
      verdict: 'selected',
      root: { label: 'n eq 1', truth: 'match' },
    });
  });
});

describe('a thread in which strings may become code', () => {
  test.each([
    [[], 'refusing to start'],
    [['--disallow-code-generation-from-strings'], 'started'],
  ])('with the flags %j: %s', (flags, outcome) => {
    const script = `
      const { Worker } = require('node:worker_threads');
      const regex = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
      const workerData = { stores: {}, continuationKeys: [new Uint8Array(16)], modules: { regex, kernel: null } };
      const worker = new Worker(new URL(${JSON.stringify(WORKER.href)}), { workerData });
      worker.once('error', (fault) => { console.log(fault.message); process.exit(); });
      worker.once('exit', () => { console.log('started'); });
    `;
    const output = execFileSync(process.execPath, [...flags, '-e', script], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });
    expect(output).toContain(outcome);
  });
});
