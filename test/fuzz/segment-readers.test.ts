/**
 * Every reader on damaged segments: each cut and each changed byte of small segments, and bytes of no sense at all.
 *
 * Whatever the bytes, a reader throws nothing, looks at nothing outside the segment, and agrees with the obvious
 * reference about every record before the damage and about the damage itself, in place, through small windows, and
 * through the kernel's window, which is full of what it held before.
 */
import { describe, expect, it } from 'vitest';
import { createReader, type SegmentFormatName } from '../../src/segment/formats.js';
import { Frame, FRAME_NEEDS_BYTES, FRAME_OK, FRAME_SKIPPED } from '../../src/segment/frame.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { encodeIggySegment, encodePolledBody, type IggyRecord } from '../../src/segment/iggy-writer.js';
import { newKernel } from '../support/kernel.js';
import { inlineSource } from '../../src/source/inline.js';
import { Seeded } from '../support/seeded.js';
import { drain, type DrainOptions } from '../support/segment-drain.js';
import {
  referenceIggy,
  referenceNdjson,
  referencePolled,
  type ReferenceOptions,
  type ReferenceResult,
} from '../support/segment-reference.js';

const BASE: ReferenceOptions = { sealed: true, verifyChecksums: false, partitionId: 3, baseOffset: 50 };
const kernel = newKernel();

const HEADERS = encodeHeaders([{ key: 'k', value: { kind: 'u8', value: 7 } }]);

function records(hasChecksum: boolean): IggyRecord[] {
  return [
    { offset: 5, payload: Buffer.from('{"a":1}'), headers: HEADERS, timestamp: 9n, id: 1n, hasChecksum },
    { offset: 6, payload: new Uint8Array(0), hasChecksum },
    { offset: 300, payload: Buffer.from('{"b":[true]}'), hasChecksum },
  ];
}

const LINES = Buffer.from('{"a":1}\n\r\n[2]\r\n  \n"x"');

const REFERENCES = { iggy: referenceIggy, iggy_polled: referencePolled, ndjson: referenceNdjson } as const;

interface Subject {
  readonly format: SegmentFormatName;
  readonly bytes: Uint8Array;
  readonly options: ReferenceOptions;
}

const SUBJECTS: readonly Subject[] = [
  { format: 'iggy', bytes: encodeIggySegment(records(false)), options: BASE },
  { format: 'iggy', bytes: encodeIggySegment(records(false)), options: { ...BASE, sealed: false } },
  { format: 'iggy', bytes: encodeIggySegment(records(true)), options: { ...BASE, verifyChecksums: true } },
  { format: 'iggy_polled', bytes: encodePolledBody(3, 300, records(false)), options: BASE },
  {
    format: 'iggy_polled',
    bytes: encodePolledBody(3, 300, records(true)),
    options: { ...BASE, verifyChecksums: true },
  },
  { format: 'ndjson', bytes: LINES, options: BASE },
  { format: 'ndjson', bytes: LINES, options: { ...BASE, sealed: false } },
];

/** What the reader itself yields from `bytes` placed inside a larger buffer full of `around`. */
function readInside(subject: Subject, bytes: Uint8Array, around: number): string[] {
  const buffer = new Uint8Array(bytes.length + 300).fill(around);
  buffer.set(bytes, 150);
  const end = 150 + bytes.length;
  const reader = createReader(subject.format, subject.options);
  const frame = new Frame();
  const seen: string[] = [];
  if (reader.prefixBytes > 0) {
    const status = reader.readPrefix(buffer.slice(150), bytes.length, frame);
    if (status !== FRAME_OK) return [`prefix ${frame.fault}`];
  }
  for (let at = 150 + reader.prefixBytes; ;) {
    const status = reader.read(buffer, at, end, end - at, frame);
    const places = [
      frame.frameStart,
      frame.payloadStart,
      frame.payloadEnd,
      frame.headersStart,
      frame.headersEnd,
      frame.next,
    ];
    if (status === FRAME_OK) {
      const isInside = places.every((place) => place >= at && place <= end);
      seen.push(isInside ? `${frame.offset} ${places.join(' ')}` : `outside ${places.join(' ')}`);
    } else if (status !== FRAME_SKIPPED) {
      return [...seen, `${status} ${frame.frameStart} ${frame.fault}`];
    }
    at = frame.next;
  }
}

/** Undefined where reader and reference agree, else what differs. */
function disagreement(subject: Subject, bytes: Uint8Array, windows: readonly number[]): string | undefined {
  const expected: ReferenceResult = REFERENCES[subject.format](bytes, subject.options);
  const ways: DrainOptions[] = [
    {},
    ...windows.map((windowBytes) => ({ windowBytes })),
    ...[...windows, kernel.window.length].map((windowBytes) => ({ windowBytes, kernel })),
    { kernel, source: inlineSource(bytes) },
  ];
  for (const way of ways) {
    const drained = drain(subject.format, bytes, { ...subject.options, ...way });
    const isSame =
      drained.ending === expected.ending &&
      drained.offsets.join() === expected.offsets.join() &&
      drained.frames.every((frame, index) => Buffer.compare(frame, expected.frames[index]!) === 0);
    if (!isSame)
      return `window ${way.windowBytes}, kernel ${way.kernel !== undefined}: ${drained.offsets} ${drained.ending}, not ${expected.offsets} ${expected.ending}`;
  }
  const inside = [0, 0xff, 0x0a, 0x7b].map((around) => readInside(subject, bytes, around).join('; '));
  return new Set(inside).size === 1 && !inside[0]!.includes('outside') ? undefined : inside.join(' | ');
}

describe.each(SUBJECTS)('$format, $options', (subject) => {
  it('agrees with the reference on the whole segment', () => {
    expect(disagreement(subject, subject.bytes, [64, 70, 4096])).toBeUndefined();
  });

  it('has a defined outcome for every truncation', () => {
    for (let length = 0; length < subject.bytes.length; length += 1) {
      expect(disagreement(subject, subject.bytes.slice(0, length), [64, 90]), `cut to ${length}`).toBeUndefined();
    }
  });

  it('has a defined outcome for every change of one byte', () => {
    for (let at = 0; at < subject.bytes.length; at += 1) {
      for (const change of [1, 2, 4, 8, 16, 32, 64, 128, 255, subject.bytes[at]!, subject.bytes[at]! ^ 0x0a]) {
        const changed = subject.bytes.slice();
        changed[at]! ^= change;
        const found = disagreement(subject, changed, [64]);
        if (found !== undefined) expect.fail(`byte ${at} ^ ${change}: ${found}`);
      }
    }
  });

  it('has a defined outcome for bytes inserted, removed and repeated at random', () => {
    const random = new Seeded(subject.bytes.length);
    for (let round = 0; round < 1500; round += 1) {
      let bytes = Buffer.from(subject.bytes);
      for (let change = random.below(3); change >= 0; change -= 1) {
        const from = random.below(bytes.length + 1);
        const to = Math.min(bytes.length, from + random.below(80));
        const noise = Buffer.from(
          Array.from({ length: random.below(12) }, () => random.pick([0, 1, 10, 13, 32, 64, 255])),
        );
        const middle = random.pick([noise, bytes.subarray(from, to), Buffer.concat([bytes.subarray(from, to), noise])]);
        const rest = bytes.subarray(random.pick([from, to]));
        bytes = Buffer.concat([bytes.subarray(0, from), middle, rest]);
      }
      const found = disagreement(subject, new Uint8Array(bytes), [random.pick([64, 65, 100, 333])]);
      if (found !== undefined) expect.fail(`round ${round}, ${bytes.toString('hex')}: ${found}`);
    }
  });
});

describe('a checksum', () => {
  it('catches every change of one bit outside itself that leaves the frame whole', () => {
    const bytes = encodeIggySegment(records(true));
    const frameBytes = bytes.length - 2 * 64 - 12;
    for (let at = 8; at < frameBytes; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = bytes.slice();
        changed[at]! ^= 1 << bit;
        const drained = drain('iggy', changed, { verifyChecksums: true });
        expect(drained.offsets, `byte ${at} bit ${bit}`).toEqual([]);
      }
    }
  });
});

describe('a reader', () => {
  it('asks for more bytes of a window until it can tell, and then says what it says of the whole', () => {
    for (const subject of SUBJECTS) {
      const { bytes } = subject;
      const start = createReader(subject.format, subject.options).prefixBytes;
      const whole = new Frame();
      const reader = createReader(subject.format, subject.options);
      if (start > 0) reader.readPrefix(bytes, bytes.length, whole);
      const expected = reader.read(bytes, start, bytes.length, bytes.length - start, whole);
      for (let end = start; end < bytes.length; end += 1) {
        const frame = new Frame();
        reader.restart(0);
        const status = reader.read(bytes, start, end, bytes.length - start, frame);
        if (status === FRAME_NEEDS_BYTES) {
          expect(frame.needed).toBeGreaterThan(end - frame.frameStart);
        } else {
          expect([status, frame.frameEnd]).toEqual([expected, whole.frameEnd]);
        }
      }
    }
  });
});
