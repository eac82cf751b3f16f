/**
 * Reads conformance cases (test/conformance/*.jsonl), for every engine that runs them.
 *
 * A case is taken as it is: payload bytes from any of its three spellings, the filter's text untouched, headers as
 * entries in order and as an encoded block.
 */
import { DEPTH_MAX, PAYLOAD_BYTES_MAX } from '../../src/core/limits.js';
import type { HeaderValue } from '../../src/core/header-value.js';
import type { SchemaSource } from '../../src/codec/schema-source.js';
import type { DecoderLimits } from '../../src/codec/walker.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import type { HeaderInput, HeaderValueInput } from '../../src/segment/header-encode.js';
import { corpus } from './jsonl.js';

export type CaseFile =
  | 'laser-eval-json'
  | 'laser-eval-headers'
  | 'laser-eval-codecs'
  | 'laser-header-blocks'
  | 'laser-validate'
  | 'laser-digest'
  | 'laser-explain';

/** A line of a file, fields as the file has them. */
export type RawCase = Readonly<Record<string, unknown>> & { readonly id: string };

export const CASE_FILES: readonly CaseFile[] = [
  'laser-eval-json',
  'laser-eval-headers',
  'laser-eval-codecs',
  'laser-header-blocks',
  'laser-validate',
  'laser-digest',
  'laser-explain',
];

export interface HeaderEntry {
  readonly key: string;
  readonly value: HeaderValue;
}

/** Expected truth of a node and its children, in written order; null where there is none. */
export interface TruthTree {
  readonly truth: 'match' | 'no_match' | 'unknown' | null;
  readonly children?: readonly TruthTree[];
}

/** A case of the evaluation files and of explain. */
export interface RecordCase {
  readonly id: string;
  readonly why: string;
  readonly filterText: string;
  readonly payload: Uint8Array;
  readonly headers: readonly HeaderEntry[];
  /** The same headers as stored bytes. */
  readonly headerBlock: Uint8Array;
  readonly limits: DecoderLimits;
  /** Writer schemas by id. */
  readonly schemas: ReadonlyMap<number, SchemaSource>;
  readonly verdict: 'selected' | 'rejected' | 'fault';
  /** Wire name of the reason, or null. */
  readonly reason: string | null;
  /** Only in explain. */
  readonly root: TruthTree | undefined;
}

interface RawRecordCase extends RawCase {
  readonly why: string;
  readonly filter?: unknown;
  readonly filter_text?: string;
  readonly payload_utf8?: string;
  readonly payload_hex?: string;
  readonly payload_parts?: readonly (readonly [string, number])[];
  readonly headers: readonly { key: string; value: { kind: string; value: unknown } }[];
  readonly limits?: { max_payload_bytes: number; max_depth: number };
  readonly schemas?: readonly { readonly id: number; readonly source: RawSource }[];
  readonly expect: { verdict: RecordCase['verdict']; fault: string | null; root?: TruthTree };
}

type RawSource =
  | { readonly kind: 'avro'; readonly schema: string }
  | { readonly kind: 'protobuf'; readonly descriptor_set: readonly number[]; readonly message_type: string };

/** Files of cases that are a filter and a record. */
export type RecordFile = 'laser-eval-json' | 'laser-eval-headers' | 'laser-eval-codecs' | 'laser-explain';

export function recordCases(file: RecordFile): RecordCase[] {
  return corpus<RawRecordCase>(file).map(recordCase);
}

function recordCase(raw: RawRecordCase): RecordCase {
  const headers = raw.headers.map(({ key, value }) => ({ key, value: headerValue(value) }));
  return {
    id: raw.id,
    why: raw.why,
    filterText: raw.filter_text ?? JSON.stringify(raw.filter),
    payload: payloadOf(raw),
    headers,
    headerBlock: headerBlock(headers),
    limits: {
      maxPayloadBytes: raw.limits?.max_payload_bytes ?? PAYLOAD_BYTES_MAX,
      maxDepth: raw.limits?.max_depth ?? DEPTH_MAX,
    },
    schemas: new Map((raw.schemas ?? []).map(({ id, source }) => [id, sourceOf(source)])),
    verdict: raw.expect.verdict,
    reason: raw.expect.fault,
    root: raw.expect.root,
  };
}

function sourceOf(raw: RawSource): SchemaSource {
  if (raw.kind === 'avro') return raw;
  return { kind: raw.kind, descriptorSet: Uint8Array.from(raw.descriptor_set), messageType: raw.message_type };
}

function payloadOf(raw: RawRecordCase): Uint8Array {
  if (raw.payload_hex !== undefined) return Uint8Array.from(Buffer.from(raw.payload_hex, 'hex'));
  const parts = raw.payload_parts?.map(([text, count]) => text.repeat(count)).join('');
  const text = raw.payload_utf8 ?? parts;
  if (text === undefined) throw new Error(`${raw.id} has no payload`);
  return new TextEncoder().encode(text);
}

/** A header value as the cases spell it: big integers as decimal text, raw as byte numbers, special floats as text. */
export function headerValue({ kind, value }: { kind: string; value: unknown }): HeaderValue {
  switch (kind) {
    case 'bool':
      return { kind, value: value as boolean };
    case 'int':
    case 'uint':
      return { kind, value: BigInt(value as number | string) };
    case 'float':
      return { kind, value: Number(value) };
    case 'string':
      return { kind, value: value as string };
    case 'raw':
      return { kind, value: Uint8Array.from(value as number[]) };
    default:
      throw new Error(`no header value kind ${kind}`);
  }
}

/** The entries as a stored block: integers as 64 bits, floats as f64, 16 raw bytes as what they are. */
export function headerBlock(entries: readonly HeaderEntry[]): Uint8Array {
  return encodeHeaders(entries.map(({ key, value }): HeaderInput => ({ key, value: storedForm(value) })));
}

function storedForm(value: HeaderValue): HeaderValueInput {
  switch (value.kind) {
    case 'int':
      return { kind: 'i64', value: value.value };
    case 'uint':
      return { kind: 'u64', value: value.value };
    case 'float':
      return { kind: 'f64', value: value.value };
    default:
      return value;
  }
}

/** A case of laser-header-blocks. */
export interface BlockCase {
  readonly id: string;
  readonly why: string;
  readonly block: Uint8Array;
  readonly contentTypeOnly: boolean;
  /** Sorted by key bytes, one per key; undefined where the block is malformed. */
  readonly entries: readonly HeaderEntry[] | undefined;
}

interface RawBlockCase extends RawCase {
  readonly why: string;
  readonly block_hex: string;
  readonly need?: 'content_type';
  readonly expect: { malformed: boolean; entries?: { key: string; value: { kind: string; value: unknown } }[] };
}

export function blockCases(): BlockCase[] {
  return corpus<RawBlockCase>('laser-header-blocks').map((raw) => {
    const entries = raw.expect.entries?.map(({ key, value }) => ({ key, value: headerValue(value) }));
    return {
      id: raw.id,
      why: raw.why,
      block: Uint8Array.from(Buffer.from(raw.block_hex, 'hex')),
      contentTypeOnly: raw.need === 'content_type',
      entries: raw.expect.malformed ? undefined : entries!,
    };
  });
}
