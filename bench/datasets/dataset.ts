/**
 * What a dataset is to whoever writes or scans it: numbered records, each a pure function of its number.
 */
export interface Dataset {
  readonly name: string;
  /** Record `index`, from 0 without end. */
  record(index: number): DatasetRecord;
}

export interface DatasetRecord {
  readonly payload: Uint8Array;
  /** Encoded header block, possibly shared between records: not to be written to. */
  readonly headers: Uint8Array;
  /** Microseconds. */
  readonly timestamp: bigint;
}
