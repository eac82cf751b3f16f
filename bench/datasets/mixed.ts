/**
 * Dataset `mixed`: one log in which every record of `orbit` stands in a form of its own, as a partition looks that
 * several teams write to and that has moved from codec to codec.
 *
 * Of 100 records about 40 are JSON, 20 CBOR, 15 Avro, 15 Protobuf, and 10 are bytes of nothing known: under the codes of
 * raw bytes (0) and MessagePack (2), which name no codec of ours, and under 255, which names none at all. The headers
 * of a record are those of `orbit` but for what says the form.
 */
import type { Dataset, DatasetRecord } from './dataset.js';
import { contentTypeHeader, ORBIT_CODECS, type OrbitCodec, orbitInCodec } from './orbit-codecs.js';
import { orbitDataset } from './orbit.js';
import { Random } from './random.js';

/** Codes of `agdx.ct` of the opaque records: `raw`, `msgpack`, and the one that names nothing. */
export const OPAQUE_CODES = [0, 2, 255] as const;

/** How a record of the log is written: a codec, or the code of `agdx.ct` over bytes that are none. */
export type MixedForm = OrbitCodec | (typeof OPAQUE_CODES)[number];

const FORMS: readonly (readonly [form: MixedForm, perCent: number])[] = [
  ['json', 40],
  ['cbor', 20],
  ['avro', 15],
  ['protobuf', 15],
  [0, 4],
  [2, 4],
  [255, 2],
];

const OPAQUE_BYTES = { min: 100, max: 600 } as const;

export interface MixedDataset extends Dataset {
  /** How record `index` is written. */
  formOf(index: number): MixedForm;
}

/** The log under `seed`; record `index` says what record `index` of `orbit` under the same seed says. */
export function mixedDataset(seed = 1): MixedDataset {
  const random = new Random();
  const forms = new Map<MixedForm, Dataset>();
  for (const codec of ORBIT_CODECS) forms.set(codec, orbitInCodec(codec, seed));
  for (const code of OPAQUE_CODES) forms.set(code, opaque(code, seed));
  const formOf = (index: number): MixedForm => {
    random.place(~seed, index);
    let die = random.below(100);
    return FORMS.find(([, perCent]) => (die -= perCent) < 0)![0];
  };
  return {
    name: 'mixed',
    formOf,
    record: (index) => forms.get(formOf(index))!.record(index),
  };
}

function opaque(code: number, seed: number): Dataset {
  const orbit = orbitDataset({ seed, typeHeaders: [contentTypeHeader(code)] });
  const random = new Random();
  return {
    name: `opaque ${code}`,
    record(index): DatasetRecord {
      random.place(seed ^ code, index);
      const payload = new Uint8Array(random.between(OPAQUE_BYTES.min, OPAQUE_BYTES.max));
      for (let at = 0; at < payload.length; at++) payload[at] = random.below(256);
      // No codec has a payload that begins so.
      payload[0] = 0xff;
      return { ...orbit.record(index), payload };
    },
  };
}
