/**
 * What a scan must answer, worked out the slow way: random partitions of records in segments, and a plain restatement
 * of the page rules (scan-protocol §1) over a list of records that the oracle has judged.
 *
 * It shares no code with the scan: frames are laid out by the writers, verdicts come from the obvious evaluator.
 */
import type { StopName } from '../../src/core/stop-names.js';
import { isDataFault, REASON_NAMES, reasonOf, SELECTED, verdictOf, FAULT } from '../../src/core/verdict.js';
import { DEPTH_MAX, PAYLOAD_BYTES_MAX } from '../../src/core/limits.js';
import type { Evaluator } from '../../src/filter/evaluate.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { encodeIggySegment, encodePolledBody, type IggyRecord } from '../../src/segment/iggy-writer.js';
import type { Budgets, ReplyForm } from '../../src/scan/task.js';
import { storedRecord } from './oracle.js';
import type { Seeded } from './seeded.js';

export type Format = 'iggy' | 'iggy_polled' | 'ndjson';

/** One stored record, as laid out in its segment. */
export interface StoredRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly payload: Buffer;
  readonly headers: Uint8Array;
  /** The stored frame, byte for byte, and where it stands. */
  readonly frame: Buffer;
  readonly segment: number;
  readonly position: number;
}

export interface Damage {
  readonly segment: number;
  readonly position: number;
}

/** A partition as a request names it, and what is to be seen in it. */
export interface Partition {
  readonly format: Format;
  readonly segments: object[];
  /** All records that stand before the damage, in order; some may be beyond a `last_offset`. */
  readonly records: readonly StoredRecord[];
  readonly lastOffsets: readonly (number | undefined)[];
  readonly announced: readonly number[];
  readonly damage: Damage | undefined;
  readonly tornBytes: number;
}

/** The partition that the polled bodies belong to. */
export const PARTITION_ID = 3;

const DEEP = `${'['.repeat(70)}1${']'.repeat(70)}`;

function randomPayload(random: Seeded): string {
  const n = random.below(4);
  switch (random.below(12)) {
    case 0:
      return '{"x":1}';
    case 1:
      return '{"n":"text"}';
    case 2:
      return `{"n":${n}`;
    case 3:
      return random.chance(0.3) ? DEEP : '{"n":null,"s":"b"}';
    default:
      return `{"n":${n},"s":"${random.pick(['a', 'ab', 'b', 'caé'])}","pad":"${'x'.repeat(random.below(60))}"}`;
  }
}

function randomHeaders(random: Seeded): Uint8Array {
  switch (random.below(10)) {
    case 0:
      return encodeHeaders([{ key: 'agdx.ct', value: { kind: 'u8', value: 6 } }]);
    case 1:
      return Uint8Array.from([2, 0, 0, 0, 0]);
    case 2:
    case 3:
    case 4:
      return encodeHeaders([{ key: 'h', value: { kind: 'u32', value: random.below(3) } }]);
    default:
      return new Uint8Array(0);
  }
}

/** How the bytes of one segment may be harmed, at one of its frames or (`count`) in its prefix. */
type Harm = 'length' | 'reserved' | 'order' | 'checksum' | 'cut' | 'count';

interface Laid {
  readonly bytes: Buffer;
  /** Where each record's stored frame stands. */
  readonly places: { position: number; end: number }[];
}

/** A random partition: gaps, several segments, last offsets, torn tails, damage, all three formats. */
export function randomPartition(random: Seeded): Partition {
  const format = random.pick<Format>(['iggy', 'iggy', 'iggy_polled', 'ndjson']);
  const segmentCount = 1 + random.below(4);
  const damagedSegment = format !== 'ndjson' && random.chance(0.2) ? random.below(segmentCount) : -1;
  const records: StoredRecord[] = [];
  const segments: object[] = [];
  const lastOffsets: (number | undefined)[] = [];
  const announced: number[] = [];
  let damage: Damage | undefined;
  let tornBytes = 0;
  let offset = random.below(5);
  for (let segment = 0; segment < segmentCount && damage === undefined; segment += 1) {
    const own: IggyRecord[] = [];
    const baseOffset = offset;
    for (let left = random.below(14); left > 0; left -= 1) {
      own.push(randomRecord(random, format, offset));
      offset += format !== 'ndjson' && random.chance(0.25) ? 1 + random.below(4) : 1;
    }
    const lastOffset = random.chance(0.3) ? Math.max(0, offset - 3 + random.below(5)) : undefined;
    offset += random.below(3);
    announced.push(format === 'iggy_polled' ? offset + 5 : -1);
    lastOffsets.push(lastOffset);
    let laid = layOut(random, format, own, offset + 5);
    const mayBeTorn = segment === segmentCount - 1 && segment !== damagedSegment && format !== 'iggy_polled';
    const isTorn = mayBeTorn && random.chance(0.4);
    if (segment === damagedSegment) {
      const harmed = harm(random, format, laid);
      damage = { segment, position: harmed.position };
      laid = harmed.laid;
    } else if (isTorn) {
      const tail = tornTail(random, format);
      tornBytes = tail.length;
      laid = { ...laid, bytes: Buffer.concat([laid.bytes, tail]) };
    }
    segments.push({
      format,
      bytes: laid.bytes,
      ...(format === 'ndjson' ? { base_offset: baseOffset } : {}),
      ...(lastOffset === undefined ? {} : { last_offset: random.chance(0.5) ? lastOffset : String(lastOffset) }),
      ...(isTorn ? { sealed: false } : {}),
      ...(segment === damagedSegment ? { verify_checksums: true } : {}),
    });
    laid.places.forEach(({ position, end }, i) => {
      const { payload, headers = new Uint8Array(0), timestamp = 0n } = own[i]!;
      const frame = Buffer.from(laid.bytes.subarray(position, end));
      const place = { segment, position };
      records.push({
        offset: own[i]!.offset,
        timestamp: Number(timestamp),
        payload: Buffer.from(payload),
        headers,
        frame,
        ...place,
      });
    });
  }
  if (damage !== undefined && random.chance(0.5)) {
    // What stands behind the damage is not read, so anything may stand there; it is met where the damage is cut off.
    segments.push({ format, bytes: Buffer.from('garbage') });
    lastOffsets.push(undefined);
    announced.push(-1);
  }
  return { format, segments, records, lastOffsets, announced, damage, tornBytes };
}

function randomRecord(random: Seeded, format: Format, offset: number): IggyRecord {
  const isLine = format === 'ndjson';
  return {
    offset,
    payload: Buffer.from(randomPayload(random)),
    headers: isLine ? new Uint8Array(0) : randomHeaders(random),
    id: BigInt(random.below(1000)),
    timestamp: isLine ? 0n : BigInt(1000 + offset * 2 + random.below(6)),
    originTimestamp: BigInt(random.below(1000)),
    hasChecksum: random.chance(0.5),
  };
}

function layOut(random: Seeded, format: Format, records: readonly IggyRecord[], currentOffset: number): Laid {
  const places: Laid['places'] = [];
  if (format === 'ndjson') {
    const parts: string[] = [];
    let at = 0;
    const push = (text: string) => {
      parts.push(text);
      at += Buffer.byteLength(text);
    };
    for (const { payload } of records) {
      if (random.chance(0.2)) push(random.pick(['\n', ' \t\r\n', '\r\n\n']));
      places.push({ position: at, end: at + payload.length });
      push(`${Buffer.from(payload).toString()}${random.pick(['\n', '\r\n'])}`);
    }
    return { bytes: Buffer.from(parts.join('')), places };
  }
  let at = format === 'iggy_polled' ? 16 : 0;
  for (const { payload, headers = new Uint8Array(0) } of records) {
    places.push({ position: at, end: at + 64 + payload.length + headers.length });
    at = places.at(-1)!.end;
  }
  const bytes = format === 'iggy' ? encodeIggySegment(records) : encodePolledBody(PARTITION_ID, currentOffset, records);
  return { bytes: Buffer.from(bytes), places };
}

/** Harms one frame; the frames before it stay whole. A segment without frames gets a few bytes that are none. */
function harm(random: Seeded, format: Format, laid: Laid): { laid: Laid; position: number } {
  const { places } = laid;
  const bytes = Buffer.from(laid.bytes);
  const kinds: Harm[] =
    format === 'iggy_polled' ? ['length', 'cut', 'count'] : ['length', 'reserved', 'checksum', 'cut'];
  const kind = random.pick<Harm>([...kinds, 'order']);
  if (kind === 'count') {
    // One more announced than there is: found missing where the body ends.
    bytes.writeUInt32LE(places.length + 1, 12);
    return { laid: { bytes, places }, position: bytes.length };
  }
  if (places.length === 0) {
    const tail = Buffer.alloc(10, 7);
    return { laid: { bytes: Buffer.concat([bytes, tail]), places }, position: bytes.length };
  }
  const victim = random.below(places.length);
  const { position, end } = places[victim]!;
  const whole = { bytes, places: places.slice(0, victim) };
  switch (kind) {
    case 'cut': {
      const left = 1 + random.below(end - position - 1);
      return { laid: { ...whole, bytes: bytes.subarray(0, position + left) }, position };
    }
    case 'reserved':
      bytes[position + 56 + random.below(8)] = 1;
      break;
    case 'checksum':
      // A checksum that is set and wrong; the bytes it covers are as they were.
      bytes.writeBigUInt64LE(1n, position);
      break;
    case 'order':
      // An offset below the one before it, or beyond the largest where there is none before it in this segment.
      bytes.writeBigUInt64LE(0n, position);
      bytes.writeBigUInt64LE(victim > 0 ? 0n : 2n ** 53n, position + 24);
      break;
    default:
      bytes.writeUInt32LE(0x7fffffff, position + 52);
  }
  return { laid: whole, position };
}

function tornTail(random: Seeded, format: Format): Buffer {
  if (format === 'ndjson') return Buffer.from('{"n":1,"s":"unfinished');
  const frame = Buffer.from(encodeIggySegment([{ offset: 10_000, payload: Buffer.from('{"n":1}') }]));
  return frame.subarray(0, 1 + random.below(frame.length - 1));
}

/** What a pass that starts at offset `lowest` gets to see, and how it ends. */
export interface Walk {
  readonly visible: readonly StoredRecord[];
  readonly damage: Damage | undefined;
  readonly tornBytes: number;
}

/** Steps through the partition as the rules have it; segments wholly below `lowest` are not opened. */
export function walk(partition: Partition, lowest: number): Walk {
  const visible: StoredRecord[] = [];
  let before = -1;
  for (const index of partition.segments.keys()) {
    const last = partition.lastOffsets[index] ?? Number.MAX_SAFE_INTEGER;
    if (last < lowest) continue;
    let isCut = before >= last;
    for (const record of partition.records) {
      if (record.segment !== index || isCut) continue;
      if (record.offset > last) {
        isCut = true;
        continue;
      }
      visible.push(record);
      before = record.offset;
      isCut = before >= last;
    }
    if (isCut) continue;
    const { damage } = partition;
    if (damage?.segment === index) return { visible, damage, tornBytes: 0 };
    if (damage !== undefined && index > damage.segment) {
      return { visible, damage: { segment: index, position: 0 }, tornBytes: 0 };
    }
    if (index === partition.segments.length - 1) return { visible, damage: undefined, tornBytes: partition.tornBytes };
  }
  return { visible, damage: undefined, tornBytes: 0 };
}

/** A record with what becomes of it. */
export interface Judged {
  readonly record: StoredRecord;
  readonly becomes: 'matched' | 'rejected' | 'dropped' | 'unevaluated' | 'stop';
  readonly reason: string;
}

/** One oracle pass over the records. */
export function judge(evaluator: Evaluator, records: readonly StoredRecord[]): Judged[] {
  const limits = { maxPayloadBytes: PAYLOAD_BYTES_MAX, maxDepth: DEPTH_MAX };
  return records.map((record) => {
    const outcome = evaluator.evaluate(storedRecord(record.headers, record.payload), limits);
    const reason = reasonOf(outcome);
    const name = REASON_NAMES[reason];
    const verdict = verdictOf(outcome);
    if (verdict === SELECTED) return { record, becomes: 'matched', reason: name };
    if (verdict !== FAULT) return { record, becomes: 'rejected', reason: name };
    const policy = isDataFault(reason) ? evaluator.filter.faultPolicy : 'pass';
    const becomes = policy === 'pass' ? 'unevaluated' : policy === 'drop' ? 'dropped' : 'stop';
    return { record, becomes, reason: name };
  });
}

export interface ExpectedPage {
  examined: number;
  matched: number;
  rejected: number;
  unevaluated_count: number;
  dropped: number;
  examined_bytes: number;
  next_scan_offset: number | undefined;
  safe_ack_offset: number | undefined;
  stop: StopName;
  budget: string | undefined;
  filled_by: string | undefined;
  fault: object | undefined;
  torn_bytes: number | undefined;
  unevaluated: { offset: number; reason: string }[];
  delivered: StoredRecord[];
}

export interface ExpectedResponse {
  readonly pages: ExpectedPage[];
  /** True where the response is a problem instead: damage before anything was examined. */
  readonly isProblem: boolean;
  readonly endStop: string;
  readonly endBudget: string | undefined;
}

/** Looked at before a record: a stop that came from outside after `after` examined records. */
export interface Interruption {
  readonly stop: 'cancelled' | 'deadline';
  readonly after: number;
}

function replySize(form: ReplyForm, { frame, payload }: StoredRecord): number {
  if (form === 'records') return frame.length;
  return form === 'headers' ? frame.length - payload.length : form === 'offsets' ? 8 : 0;
}

/**
 * The response to a request that starts at `judged[0]`, page by page. `sliceEnds` are the numbers of examined records at
 * which a slice ended and another followed, where the reply is a stream; empty otherwise.
 */
export function expectedResponse(
  judged: readonly Judged[],
  { damage, tornBytes }: Pick<Walk, 'damage' | 'tornBytes'>,
  budgets: Budgets,
  form: ReplyForm,
  interruption: Interruption | undefined,
  sliceEnds: ReadonlySet<number>,
): ExpectedResponse {
  const pages: ExpectedPage[] = [];
  let page = emptyPage();
  let replyBytes = 0;
  let examined = 0;
  let examinedBytes = 0;
  let filled = 0;
  let matched = 0;
  let matchedBeforeSlice = 0;
  const startPage = (): void => {
    page = emptyPage();
    replyBytes = 0;
  };
  /** A slice may have ended here: the page that is still open with the first match, found in that slice, leaves. */
  const endSlice = (): void => {
    if (!sliceEnds.has(examined)) return;
    if (matchedBeforeSlice === 0 && matched > 0 && page.matched === matched) {
      pages.push({ ...page, stop: 'flushed' });
      startPage();
    }
    matchedBeforeSlice = matched;
  };
  const finish = (stop: StopName, more: Partial<ExpectedPage> = {}, endBudget = more.budget): ExpectedResponse => {
    pages.push({ ...page, stop, ...more });
    return { pages, isProblem: false, endStop: endBudget === 'pages' ? 'budget' : stop, endBudget };
  };
  /** Closes a full page; the response's end if it was the last one allowed. */
  const fill = (filledBy: string): ExpectedResponse | undefined => {
    filled += 1;
    if (filled === budgets.pages) return finish('filled', { filled_by: filledBy }, 'pages');
    pages.push({ ...page, stop: 'filled', filled_by: filledBy });
    startPage();
    return undefined;
  };
  for (const { record, becomes, reason } of judged) {
    endSlice();
    if (interruption?.after === examined) return finish(interruption.stop);
    const { offset } = record;
    if (examined > 0 && examined >= budgets.max_examined) return finish('budget', { budget: 'examined' });
    if (examined > 0 && examinedBytes + record.frame.length > budgets.max_examined_bytes) {
      return finish('budget', { budget: 'examined_bytes' });
    }
    if (becomes === 'stop') return finish('fault', { fault: { offset, reason }, next_scan_offset: offset });
    const isDelivered = becomes === 'matched' || becomes === 'unevaluated';
    const size = replySize(form, record);
    if (isDelivered && size > budgets.max_reply_bytes) {
      const fault = { offset, reason: 'oversized_record', bytes: record.frame.length };
      return finish('oversized_record', { fault, next_scan_offset: offset });
    }
    if (isDelivered && replyBytes + size > budgets.max_reply_bytes) {
      const end = fill('reply_bytes');
      if (end !== undefined) return end;
    }
    examined += 1;
    examinedBytes += record.frame.length;
    page.examined += 1;
    page.examined_bytes += record.frame.length;
    page[becomes === 'unevaluated' ? 'unevaluated_count' : becomes] += 1;
    if (becomes === 'matched') matched += 1;
    page.next_scan_offset = offset + 1;
    page.safe_ack_offset = offset;
    if (!isDelivered) continue;
    replyBytes += size;
    page.delivered.push(record);
    if (becomes === 'unevaluated') page.unevaluated.push({ offset, reason });
    if (page.delivered.length === budgets.count) {
      const end = fill('count');
      if (end !== undefined) return end;
    }
  }
  endSlice();
  if (interruption !== undefined) return finish(interruption.stop);
  if (damage === undefined) return finish('end_of_visible', tornBytes === 0 ? {} : { torn_bytes: tornBytes });
  if (examined === 0) return { pages, isProblem: true, endStop: '', endBudget: undefined };
  return finish('corrupt', { fault: { reason: 'source_corrupt', ...damage } });
}

function emptyPage(): ExpectedPage {
  return {
    examined: 0,
    matched: 0,
    rejected: 0,
    unevaluated_count: 0,
    dropped: 0,
    examined_bytes: 0,
    next_scan_offset: undefined,
    safe_ack_offset: undefined,
    stop: 'end_of_visible',
    budget: undefined,
    filled_by: undefined,
    fault: undefined,
    torn_bytes: undefined,
    unevaluated: [],
    delivered: [],
  };
}
