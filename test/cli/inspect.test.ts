/**
 * `winnow inspect`: the report, its text, the guess of the format, exit codes.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orbitDataset } from '../../bench/datasets/orbit.js';
import { shapeDataset } from '../../bench/datasets/shapes.js';
import { webhooksDataset } from '../../bench/datasets/webhooks.js';
import { segmentBytes } from '../../bench/datasets/write.js';
import { register, runInspect, type InspectArguments } from '../../src/cli/inspect.js';
import { REPORT_KEYS_MAX } from '../../src/cli/segment-report.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { encodeIggySegment, encodePolledBody, type IggyRecord } from '../../src/segment/iggy-writer.js';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'winnow-inspect-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function inspect(bytes: Uint8Array | string, options: InspectArguments = {}) {
  const file = join(folder, 'segment');
  writeFileSync(file, bytes);
  const lines: string[] = [];
  const errors: string[] = [];
  const code = runInspect(file, options, { out: (line) => lines.push(line), error: (line) => errors.push(line) });
  return { code, lines, errors, text: lines.join('\n') };
}

function reportOf(bytes: Uint8Array | string, options: InspectArguments = {}) {
  const { code, lines } = inspect(bytes, { ...options, json: true });
  return { code, ...JSON.parse(lines[0]!) };
}

const HEADERS = encodeHeaders([
  { key: 'unit', value: { kind: 'string', value: 'gyro' } },
  { key: 'unit', value: { kind: 'u8', value: 1 } },
  { key: Uint8Array.of(0xff, 1), value: { kind: 'bool', value: true } },
]);

function records(): IggyRecord[] {
  return [
    { offset: 7, payload: Buffer.from('{"a":1}'), headers: HEADERS, timestamp: 99n, hasChecksum: true },
    { offset: 8, payload: Buffer.from('{}'), headers: Uint8Array.of(2, 9), hasChecksum: true },
    { offset: 12, payload: Buffer.from('[1,2]'), hasChecksum: true },
  ];
}

describe('a whole segment', () => {
  it('is told by frames, offsets, gaps, sizes and header keys, with exit code 0', () => {
    expect(reportOf(encodeIggySegment(records()), { verify: true })).toMatchObject({
      code: 0,
      format: 'iggy',
      bytes: 3 * 64 + 14 + HEADERS.length + 2,
      frames: 3,
      first_offset: 7,
      last_offset: 12,
      gaps: 1,
      payload_bytes: { min: 2, mean: 4.7, max: 7 },
      header_keys: [
        { key: 'unit', key_kind: 2, kinds: ['string', 'uint'], entries: 2 },
        { key: 'ff01', key_kind: 1, kinds: ['bool'], entries: 1 },
      ],
      malformed_header_blocks: 1,
      checksums_verified: true,
      listed: [
        { offset: 7, position: 0, payload_bytes: 7, timestamp: '99' },
        { offset: 8, position: 71 + HEADERS.length },
        { offset: 12, header_bytes: 0 },
      ],
    });
  });

  it('is told in lines for people', () => {
    const { code, text } = inspect(encodeIggySegment(records()), { frames: '1' });
    expect(code).toBe(0);
    expect(text).toContain('offsets       7 … 12, 1 gap');
    expect(text).toContain('header keys   unit  string, uint  ×2');
    expect(text).toContain('0xff01 (key kind 1)  bool  ×1');
    expect(text).toContain('blocks that do not parse: 1');
    expect(text).toMatch(/offset +position +bytes/);
    expect(text).toContain('damage        none');
  });

  it('of a polled body shows partition and announced offset', () => {
    const report = reportOf(encodePolledBody(77, 30, records()));
    expect(report).toMatchObject({ code: 0, format: 'iggy_polled', partition_id: 77, announced_offset: 30, frames: 3 });
    expect(inspect(encodePolledBody(77, 30, records())).text).toContain('current offset 30');
  });

  it('of lines has no headers and no timestamps', () => {
    const report = reportOf('{"a":1}\n\n[2]', { baseOffset: '40' });
    expect(report).toMatchObject({ code: 0, format: 'ndjson', first_offset: 40, last_offset: 41, header_keys: [] });
    expect(report.listed[0].timestamp).toBeUndefined();
  });

  it('may be empty', () => {
    expect(reportOf('')).toMatchObject({ code: 0, frames: 0 });
    expect(inspect('').text).toContain('offsets       none');
  });

  it('bounds the header keys it lists', () => {
    const many = Array.from({ length: REPORT_KEYS_MAX + 5 }, (_, offset) => ({
      offset,
      payload: new Uint8Array(1),
      headers: encodeHeaders([{ key: `key-${offset}`, value: { kind: 'bool', value: true } }]),
    }));
    const report = reportOf(encodeIggySegment(many));
    expect(report.header_keys.length).toBe(REPORT_KEYS_MAX);
    expect(report.header_keys_left_out).toBe(5);
    expect(inspect(encodeIggySegment(many)).text).toContain('entries of further keys: 5');
  });

  it('cannot drive the terminal with a header key', () => {
    const headers = encodeHeaders([{ key: 'a\u001b[2J\u202e', value: { kind: 'bool', value: true } }]);
    const { text } = inspect(encodeIggySegment([{ offset: 0, payload: new Uint8Array(1), headers }]));
    expect(text).toContain(String.raw`a\u{1b}[2J\u{202e}`);
    expect(text).not.toContain('\u001b');
  });
});

describe('damage', () => {
  it('is shown with place, reason and the offset before, with exit code 1', () => {
    const bytes = encodeIggySegment(records());
    const position = bytes.length - 69;
    bytes[position + 60] = 1;
    expect(reportOf(bytes)).toMatchObject({
      code: 1,
      frames: 2,
      damage: { position, fault: 'reserved', offset_before: 8 },
    });
    const { code, text } = inspect(bytes);
    expect(code).toBe(1);
    expect(text).toContain(`damage        at position ${position}, after offset 8: reserved`);
    expect(text).toContain('The reserved field of the frame is not zero.');
  });

  it('of a payload shows only when checksums are verified', () => {
    const bytes = encodeIggySegment(records());
    bytes[bytes.length - 1]! ^= 1;
    expect(reportOf(bytes).code).toBe(0);
    expect(reportOf(bytes, { verify: true })).toMatchObject({ code: 1, damage: { fault: 'checksum' } });
  });

  it('at the first frame stands before any record', () => {
    const { code, text } = inspect(encodeIggySegment(records()).subarray(0, 70), { format: 'iggy' });
    expect(code).toBe(1);
    expect(text).toContain('at position 0, before any record: torn');
  });

  it('is a cut end in a sealed file, and a torn tail in one that is still written to', () => {
    const cut = encodeIggySegment(records()).subarray(0, -3);
    expect(reportOf(cut)).toMatchObject({ code: 1, damage: { fault: 'torn', offset_before: 8 } });
    const report = reportOf(cut, { unsealed: true });
    expect(report).toMatchObject({ code: 0, frames: 2, torn_bytes: 66 });
    expect(report.damage).toBeUndefined();
    expect(inspect(cut, { unsealed: true }).text).toContain('66 bytes of an unfinished frame');
  });
});

describe('the guess of the format', () => {
  it('is right for every dataset in every format', () => {
    const datasets = [orbitDataset(), webhooksDataset(), shapeDataset('long-text'), shapeDataset('escapes')];
    for (const dataset of datasets) {
      for (const format of ['iggy', 'ndjson'] as const) {
        expect(reportOf(segmentBytes(dataset, format, 5)), dataset.name).toMatchObject({ code: 0, format, frames: 5 });
      }
    }
    expect(reportOf(encodePolledBody(0, 0, []))).toMatchObject({ code: 0, format: 'iggy_polled' });
  });

  it('finds a format by what reads before the damage', () => {
    for (const [format, bytes] of [
      ['iggy', encodeIggySegment(records())],
      ['iggy_polled', encodePolledBody(5, 12, records())],
    ] as const) {
      expect(reportOf(bytes.subarray(0, -1))).toMatchObject({ code: 1, format });
    }
  });
});

describe('a file that cannot be inspected', () => {
  it('exits 2 with a reason and prints no report', () => {
    const noise = Uint8Array.from({ length: 300 }, (_, index) => (index * 197 + 11) & 255);
    const cases: [Uint8Array | string, InspectArguments, string][] = [
      [noise, {}, 'cannot be guessed'],
      ['1\n', { format: 'kafka' }, 'not available'],
      ['1\n', { format: 'parquet' }, 'Unknown segment format'],
      ['1\n', { frames: '-1' }, '--frames takes an integer'],
      ['1\n', { frames: 'all' }, '--frames takes an integer'],
      ['1\n', { baseOffset: '9007199254740992' }, '--base-offset takes an integer'],
    ];
    for (const [bytes, options, reason] of cases) {
      const { code, lines, errors } = inspect(bytes, options);
      expect(code, reason).toBe(2);
      expect(errors.join()).toContain(reason);
      expect(lines).toEqual([]);
    }
  });

  it('exits 2 for a missing file and a folder', () => {
    for (const [path, reason] of [
      [join(folder, 'missing'), 'No such segment'],
      [folder, 'no regular file'],
    ] as const) {
      const errors: string[] = [];
      expect(runInspect(path, {}, { out: () => {}, error: (line) => errors.push(line) })).toBe(2);
      expect(errors.join()).toContain(reason);
    }
  });
});

it('is registered with its options', () => {
  const program = new Command();
  register(program);
  const command = program.commands[0]!;
  expect(command.name()).toBe('inspect');
  expect(command.options.map((option) => option.long)).toEqual([
    '--format',
    '--frames',
    '--base-offset',
    '--verify',
    '--unsealed',
    '--json',
  ]);
});
