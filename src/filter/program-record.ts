/**
 * The record a program is looking at: which of its bytes have been read so far, and what reading them gave.
 *
 * Everything is read on demand and once per record, however many filters ask: the header block, the content type, the
 * payload of each codec (contract: laser-filter §4 for the order of checks). Data faults are numbers.
 *
 * Invariants: nothing here is allocated per record; what a failed read left in slots is never looked at.
 */
import type { PayloadWalker, SchemaWalker } from '../codec/walker.js';
import { SCHEMA_ID_MAX } from '../core/header-value.js';
import { SLOT_INTEGER, type Slots } from '../core/slots.js';
import {
  FOREIGN_CODEC,
  MISSING_SCHEMA,
  NO_REASON,
  type Reason,
  SCHEMA_MISMATCH,
  SCHEMA_NOT_ALLOWED,
  TOO_LARGE,
} from '../core/verdict.js';
import type { CodecName } from './ir.js';

/** The header block's reader, as the segment formats provide it: slot `i` belongs to key `i` it was made for. */
export interface HeaderReader {
  readonly slots: Slots;
  /** Reads and checks the whole block; false if it is malformed, which leaves the slots undefined. */
  readAll(bytes: Uint8Array, start: number, end: number): boolean;
  /** Reads one key and steps over the rest unchecked; false if malformed. */
  readOnly(slot: number, bytes: Uint8Array, start: number, end: number): boolean;
  /**
   * Reads the whole header blocks of rows of the kernel's frame table, from row `from` on and at most to row `end`, and
   * returns the row behind the last: at least one is read. What each block is found to be stands in its header reason;
   * the slots of `from` are the current row, and those of the rows behind it follow. Absent without a kernel.
   */
  readRows?(from: number, end: number): number;
}

/** `agdx.ct` codes that name a codec run 0…8 (laser-filter §4); the codecs of filters are among them. */
const CONTENT_TYPE_CODES: Readonly<Record<Exclude<CodecName, 'headers_only'>, number>> = {
  json: 1,
  cbor: 3,
  avro: 5,
  protobuf: 6,
};
const CONTENT_TYPE_CODE_MAX = 8;

const UNREAD = 0;
const READ = 1;
const BROKEN = 2;

export class ProgramRecord {
  bytes: Uint8Array = new Uint8Array(0);
  payloadStart = 0;
  payloadEnd = 0;
  /** Set by a leaf that saw a type it cannot compare; sticky within one filter's evaluation. */
  mismatch = false;
  /** Why the evaluation of the current filter ended in a fault. */
  fault: Reason = NO_REASON;
  /** The codec the last `agdx.ct` names, or −1 where it names none. */
  contentType = -1;
  /** Another number for every record. */
  serial = 0;
  private headersStart = 0;
  private headersEnd = 0;
  private allState = UNREAD;
  private contentTypeState = UNREAD;
  private readonly headers: HeaderReader;
  private readonly contentTypeSlot: number;
  private readonly schemaIdSlot: number;
  private readonly isReadWhole: boolean;

  /**
   * Slots of `agdx.ct` and, where some filter has schemas, of `agdx.sid`. `isReadWhole` says that some filter reads whole
   * header blocks.
   */
  constructor(headers: HeaderReader, contentTypeSlot: number, schemaIdSlot: number, isReadWhole: boolean) {
    this.headers = headers;
    this.contentTypeSlot = contentTypeSlot;
    this.schemaIdSlot = schemaIdSlot;
    this.isReadWhole = isReadWhole;
  }

  begin(bytes: Uint8Array, payloadStart: number, payloadEnd: number, headersStart: number, headersEnd: number): void {
    this.serial += 1;
    this.bytes = bytes;
    this.payloadStart = payloadStart;
    this.payloadEnd = payloadEnd;
    this.headersStart = headersStart;
    this.headersEnd = headersEnd;
    this.allState = UNREAD;
    this.contentTypeState = UNREAD;
  }

  /** Reads all entries, once; false if the block is malformed. */
  hasHeaders(): boolean {
    if (this.allState === UNREAD) {
      const isGood = this.headers.readAll(this.bytes, this.headersStart, this.headersEnd);
      this.allState = isGood ? READ : BROKEN;
      if (isGood) this.keepContentType();
    }
    return this.allState === READ;
  }

  /**
   * Whether the content type can be told, by reading no more than that takes. Where some filter reads the whole block
   * anyway, that one reading serves both if it succeeds.
   */
  isContentTypeJudged(): boolean {
    return (this.isReadWhole && this.hasHeaders()) || this.hasContentType();
  }

  /** The writer schema id that the header block names, which has been read whole; −1 where it names none. */
  get schemaId(): number {
    const { base, kinds, numbers, high } = this.headers.slots;
    const index = base + this.schemaIdSlot;
    const isId = kinds[index] === SLOT_INTEGER && high[index] === 1 && numbers[index]! <= SCHEMA_ID_MAX;
    return isId ? numbers[index]! : -1;
  }

  /** Reads the content type and checks no more than that takes, once; false if that is malformed. */
  private hasContentType(): boolean {
    if (this.contentTypeState === UNREAD && this.headersStart === this.headersEnd) {
      this.contentType = -1;
      this.contentTypeState = READ;
    }
    if (this.contentTypeState === UNREAD) {
      if (this.headers.readOnly(this.contentTypeSlot, this.bytes, this.headersStart, this.headersEnd)) {
        this.keepContentType();
      } else {
        this.contentTypeState = BROKEN;
      }
    }
    return this.contentTypeState === READ;
  }

  /** Kept apart from the slots, because a later failed read of the whole block leaves those undefined. */
  private keepContentType(): void {
    const { base, kinds, numbers } = this.headers.slots;
    const index = base + this.contentTypeSlot;
    const code = kinds[index] === SLOT_INTEGER ? numbers[index]! : -1;
    this.contentType = code >= 0 && code <= CONTENT_TYPE_CODE_MAX ? code : -1;
    this.contentTypeState = READ;
  }
}

/** A walker that several sources read from, each under the schema ids that its filters allow. */
export class SchemaWalk {
  readonly walker: SchemaWalker;
  private readonly record: ProgramRecord;
  private readonly maxPayloadBytes: number;
  /** By schema id: its place among the walker's schemas, or −1 for a schema of another family. */
  private readonly places: ReadonlyMap<number, number>;
  /** The record that was walked last, and what that gave. */
  private serial = 0;
  private reason: Reason = NO_REASON;

  constructor(
    record: ProgramRecord,
    walker: SchemaWalker,
    maxPayloadBytes: number,
    places: ReadonlyMap<number, number>,
  ) {
    this.record = record;
    this.walker = walker;
    this.maxPayloadBytes = maxPayloadBytes;
    this.places = places;
  }

  /** Walks the current record's payload, once, if its size and its schema allow it; what stands against it, else. */
  walkAllowed(ids: ReadonlySet<number>): Reason {
    const { record, walker } = this;
    if (record.payloadEnd - record.payloadStart > this.maxPayloadBytes) return TOO_LARGE;
    const id = record.schemaId;
    if (id < 0) return MISSING_SCHEMA;
    if (!ids.has(id)) return SCHEMA_NOT_ALLOWED;
    const place = this.places.get(id)!;
    if (place < 0) return SCHEMA_MISMATCH;
    if (this.serial !== record.serial) {
      this.serial = record.serial;
      walker.chooseSchema(place);
      this.reason = walker.walk(record.bytes, record.payloadStart, record.payloadEnd);
    }
    return this.reason;
  }
}

/** Where leaves find their slot: the record's headers, or its payload under one codec. */
export class SlotSource {
  readonly record: ProgramRecord;
  readonly slots: Slots;
  /** Null for headers, whose values have no escapes and no elements. */
  readonly walker: PayloadWalker | null;
  /** True once the slots hold this record's values; a leaf that finds it false calls `load`. */
  isReady: boolean;
  private readonly contentType: number;
  /** Null for codecs without schemas. */
  private readonly schemas: { readonly walk: SchemaWalk; readonly ids: ReadonlySet<number> } | null;
  private reason: Reason = NO_REASON;
  /** The payload is valid, and every filter that reads it rejects it. */
  private isBarren = false;

  constructor(
    record: ProgramRecord,
    slots: Slots,
    walker: PayloadWalker | null,
    codec: CodecName,
    schemas: SlotSource['schemas'] = null,
  ) {
    this.record = record;
    this.slots = slots;
    this.walker = walker;
    this.isReady = walker === null;
    this.contentType = codec === 'headers_only' ? -1 : CONTENT_TYPE_CODES[codec];
    this.schemas = schemas;
  }

  /** Forgets the record before. Header slots are filled before any leaf runs, so they are always ready. */
  begin(): void {
    this.isReady = this.walker === null;
    this.reason = NO_REASON;
    this.isBarren = false;
  }

  /**
   * Looks at the payload: content type, size, schema, then the bytes. False if that is a fault, which then stands in the
   * record, or if no filter can match the payload, which stands there as NO_REASON. The header block has been read as far as the filter needs it.
   */
  load(): boolean {
    const { record, walker, schemas } = this;
    if (this.reason === NO_REASON && !this.isBarren && walker !== null) {
      if (record.contentType >= 0 && record.contentType !== this.contentType) this.reason = FOREIGN_CODEC;
      else if (schemas !== null) this.reason = schemas.walk.walkAllowed(schemas.ids);
      else this.reason = walker.walk(record.bytes, record.payloadStart, record.payloadEnd);
      this.isBarren = this.reason === NO_REASON && walker.isBarren;
      this.isReady = this.reason === NO_REASON && !this.isBarren;
    }
    if (this.isReady) return true;
    record.fault = this.reason;
    return false;
  }
}
