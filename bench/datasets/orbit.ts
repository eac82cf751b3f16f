/**
 * Dataset `orbit`: change records of a satellite fleet and its telemetry, 520–680 bytes of JSON each.
 *
 * Varied key order, nested `before`/`after`/`source`, numbers of every size, some escapes and non-ASCII text, five
 * typed headers. Each block of 1,000 records holds exactly the rarities that the four groups of `orbit-filters.ts`
 * are made for (2, 30, 9, 83), at shuffled places, among near misses that share their words.
 *
 * `source.slot` takes each of 0…9,999 once in every 10,000 records: the selectivity variants filter on it.
 */
import { encodeHeaders, type HeaderInput } from '../../src/segment/header-encode.js';
import type { Dataset, DatasetRecord } from './dataset.js';
import { Random } from './random.js';

export interface OrbitOptions {
  /** Default 1. */
  readonly seed?: number;
  /** True: a space after every `:` and `,` of the JSON text; the same content, longer bytes. */
  readonly isSpaced?: boolean;
  /** True: `source` holds `at` too, the record's time as RFC 3339 text with milliseconds. Default false. */
  readonly isStamped?: boolean;
  /** Records in each 1,000 whose payload is not JSON, 0…100, never one of a group. Default 0. */
  readonly malformedPerMille?: number;
  /** The first headers of each record, which say what its payload is. Default: JSON. */
  readonly typeHeaders?: readonly HeaderInput[];
}

/** Records in which the rarities are exact. */
export const ORBIT_BLOCK = 1000;
/** Values of `source.slot`, and records in which the selectivity variants are exact. */
export const ORBIT_SLOTS = 10_000;
/** Bytes of a payload without spaces, inclusive. */
export const ORBIT_PAYLOAD_BYTES = { min: 520, max: 680 } as const;
/** Region, cargo kinds and least mass of the fourth group. */
export const ORBIT_CARGO = { region: 'polar-7', kinds: ['hydrazine', 'xenon', 'water', 'oxygen'], massKg: '1250.50' };

const FIRST_TIMESTAMP = 1_767_225_600_000_000n;
const FIRST_TIME_MS = Number(FIRST_TIMESTAMP / 1000n);
const MODES = ['nominal', 'eclipse', 'slewing', 'imaging', 'downlink'];
const REGIONS = ['equator-1', 'equator-2', 'polar-3', 'polar-7', 'geo-5', 'transfer-9'];
const OTHER_REGIONS = REGIONS.filter((region) => region !== ORBIT_CARGO.region);
const UNITS = ['battery', 'antenna', 'gyro', 'star-tracker', 'solar-array'];
const STATIONS = ['svalbard', 'kourou', 'troll', 'punta-arenas', 'wallops', 'inuvik'];
const OTHER_KINDS = ['helium', 'spares', 'food', 'textiles'];
const WORDS = [
  'pass',
  'window',
  'drift',
  'slew',
  'safe',
  'margin',
  'thermal',
  'uplink',
  'mode',
  'burn',
  'orbit',
  'node',
];
/** JSON string contents: escapes, non-ASCII, and plain ones more often. */
const REMARKS = [
  'operator confirmed ',
  'scheduled by planner ',
  'see ticket ',
  'Überflug über Tromsø ✓ ',
  'flag \\"held\\" by ops ',
  'path C:\\\\orbit\\\\log ',
  'line\\none \\u00e9tape ',
  '衛星 🛰 ',
  'tab\\tseparated \\/ slash ',
  'auto ',
  'none ',
  'routine ',
];

/** `{`, `,`, `"remark":""` and `}`. */
const REMARK_FRAME_BYTES = 14;
/** Words without end, for practical purposes: remarks are cut from it. */
const PROSE = proseOf(4096);

const JSON_TYPE: readonly HeaderInput[] = [{ key: 'agdx.ct', value: { kind: 'u8', value: 1 } }];

type Group =
  'entered' | 'safe' | 'cargo' | 'thruster' | 'left' | 'cargo-near' | 'thruster-near' | 'telemetry' | 'plain';

/** The dataset under `options`. */
export function orbitDataset(options: OrbitOptions = {}): Dataset {
  return new OrbitDataset(options);
}

class OrbitDataset implements Dataset {
  readonly name = 'orbit';
  readonly #seed: number;
  readonly #colon: string;
  readonly #comma: string;
  readonly #isStamped: boolean;
  readonly #malformedPerMille: number;
  readonly #typeHeaders: readonly HeaderInput[];
  readonly #random = new Random();
  readonly #blocks = new Map<string, Uint8Array>();

  constructor(options: OrbitOptions) {
    this.#seed = options.seed ?? 1;
    this.#colon = options.isSpaced === true ? '": ' : '":';
    this.#comma = options.isSpaced === true ? ', ' : ',';
    this.#isStamped = options.isStamped === true;
    this.#malformedPerMille = options.malformedPerMille ?? 0;
    this.#typeHeaders = options.typeHeaders ?? JSON_TYPE;
  }

  record(index: number): DatasetRecord {
    const slot = spread(this.#seed, index, 387, ORBIT_BLOCK);
    const group = groupOf(slot);
    const random = this.#random;
    random.place(this.#seed, index);
    const region = regionOf(group, random);
    const unit = group === 'thruster' || group === 'thruster-near' ? 'thruster' : random.pick(UNITS);
    const severity = group === 'thruster' ? random.between(2, 3) : random.below(group === 'thruster-near' ? 2 : 4);
    const event = group === 'telemetry' ? 'satellite.telemetry_changed' : `satellite.${operationOf(group, random)}`;
    const text = this.#text(index, group, event.slice(10), region, unit);
    return {
      payload: Buffer.from(slot >= ORBIT_BLOCK - this.#malformedPerMille ? spoil(text, slot) : text),
      headers: this.#headers(event, unit, severity, region),
      timestamp: FIRST_TIMESTAMP + 1_000n * BigInt(index),
    };
  }

  /** The payload, with a remark that brings it to its length. */
  #text(index: number, group: Group, operation: string, region: string, unit: string): string {
    const random = this.#random;
    const changed =
      group === 'entered' || group === 'left' ? '"mode"' : random.pick(['"battery"', '"fuel"', '"attitude"']);
    const members = [
      this.#member('table', group === 'telemetry' ? '"telemetry"' : '"satellites"'),
      this.#member('op', `"${operation === 'telemetry_changed' ? 'u' : operation.slice(0, 1)}"`),
      this.#member('changed', `[${changed}${this.#comma}"updated_at"]`),
      this.#member('before', this.#state(index, modeBefore(group, random))),
      this.#member('after', this.#state(index, modeAfter(group, random))),
      this.#member('source', this.#source(index, region, unit)),
      this.#member('cargo', this.#cargo(group)),
    ];
    random.shuffle(members);
    const remark = random.pick(REMARKS);
    const body = members.join(this.#comma);
    const spaces = this.#comma.length === 1 ? 0 : structureOf(body) + 2;
    // The target has two dice, so that lengths gather around 600; spaces come on top.
    const target = ORBIT_PAYLOAD_BYTES.min + random.below(81) + random.below(81) + spaces;
    const held = Buffer.byteLength(body) + Buffer.byteLength(remark) + REMARK_FRAME_BYTES + (spaces === 0 ? 0 : 2);
    const member = this.#member('remark', `"${remark}${this.#fill(target - held)}"`);
    return random.below(2) === 0 ? `{${member}${this.#comma}${body}}` : `{${body}${this.#comma}${member}}`;
  }

  #member(key: string, value: string): string {
    return `"${key}${this.#colon}${value}`;
  }

  #object(members: string[]): string {
    return `{${members.join(this.#comma)}}`;
  }

  #state(index: number, mode: string): string {
    const random = this.#random;
    const charge = this.#member('charge', (random.below(1000) / 1000).toString());
    const celsius = this.#member('temp_c', ((random.below(1200) - 400) / 10).toString());
    const orbit = [
      this.#member('alt_km', (540 + random.below(900) / 100).toString()),
      this.#member('inc', (97 + random.below(9) / 10).toString()),
    ];
    const members = [
      this.#member('id', (7000 + (index % 900)).toString()),
      this.#member('mode', `"${mode}"`),
      this.#member(
        'fuel',
        random.below(4) === 0 ? `${random.between(1, 9)}e${random.between(0, 2)}` : `${random.below(500)}`,
      ),
      this.#member('battery', this.#object([charge, celsius])),
      this.#member('orbit', this.#object(orbit)),
      this.#member('stations', `["${random.pick(STATIONS)}"${this.#comma}"${random.pick(STATIONS)}"]`),
    ];
    if (random.below(2) === 0) members.reverse();
    return this.#object(members);
  }

  #source(index: number, region: string, unit: string): string {
    const random = this.#random;
    const members = [
      this.#member('region', `"${region}"`),
      this.#member('unit', `"${unit}"`),
      this.#member('slot', spread(this.#seed, index, 7919, ORBIT_SLOTS).toString()),
      // Beyond 2^53, as transaction ids are.
      this.#member('txid', (9_007_199_254_740_993n + BigInt(index)).toString()),
      this.#member('replayed', random.pick(['true', 'false', 'null'])),
    ];
    if (this.#isStamped) members.push(this.#member('at', `"${new Date(FIRST_TIME_MS + index).toISOString()}"`));
    if (random.below(3) === 0) members.reverse();
    return this.#object(members);
  }

  #cargo(group: Group): string {
    const random = this.#random;
    const isCargo = group === 'cargo' || group === 'cargo-near';
    if (!isCargo && random.below(3) > 0) return 'null';
    // A near miss lacks one of the three: region (chosen before), kind or mass.
    const lacksKind = group === 'cargo-near' && random.below(2) === 0;
    const kind = random.pick(lacksKind ? OTHER_KINDS : ORBIT_CARGO.kinds);
    const isHeavy = group === 'cargo' || lacksKind;
    const kilograms = isHeavy ? random.between(1251, 9000) : random.between(0, 1249);
    const decimals = random.pick(['', '.5', '.50', '.125', '.000']);
    const sign = random.pick(['', '', '', '+', '0']);
    const isEdge = random.below(16) === 0;
    const mass = isEdge ? (isHeavy ? '1250.50' : '1250.49') : `${sign}${kilograms}${decimals}`;
    return this.#object([this.#member('kind', `"${kind}"`), this.#member('mass_kg', `"${mass}"`)]);
  }

  /** Exactly `bytes` bytes of words, none where the record is long enough. */
  #fill(bytes: number): string {
    const from = this.#random.below(PROSE.length - ORBIT_PAYLOAD_BYTES.max);
    return PROSE.slice(from, from + Math.max(bytes, 0));
  }

  #headers(event: string, unit: string, severity: number, region: string): Uint8Array {
    const key = `${event} ${unit} ${severity} ${region}`;
    let block = this.#blocks.get(key);
    if (block === undefined) {
      block = encodeHeaders([
        ...this.#typeHeaders,
        { key: 'event.type', value: { kind: 'string', value: event } },
        { key: 'unit', value: { kind: 'string', value: unit } },
        { key: 'severity', value: { kind: 'u8', value: severity } },
        { key: 'region', value: { kind: 'string', value: region } },
      ]);
      this.#blocks.set(key, block);
    }
    return block;
  }
}

/**
 * A bijection of each block of `size` records onto 0…size−1, shifted for every block. `stride` has no factor in common
 * with `size`.
 */
function spread(seed: number, index: number, stride: number, size: number): number {
  const block = Math.floor(index / size);
  const shift = Math.imul(block + 1, 0x9e3779b1 ^ seed) >>> 0;
  return ((index % size) * stride + (shift % size)) % size;
}

function groupOf(slot: number): Group {
  if (slot < 2) return 'entered';
  if (slot < 30) return 'safe';
  if (slot < 113) return 'cargo';
  if (slot < 122) return 'thruster';
  if (slot < 142) return 'left';
  if (slot < 342) return 'cargo-near';
  if (slot < 442) return 'thruster-near';
  return slot < 642 ? 'telemetry' : 'plain';
}

function regionOf(group: Group, random: Random): string {
  if (group === 'cargo' || group === 'cargo-near') return ORBIT_CARGO.region;
  // Elsewhere cargo may be anything, so the region has to rule the record out.
  return random.pick(OTHER_REGIONS);
}

function operationOf(group: Group, random: Random): 'created' | 'updated' | 'deleted' {
  if (group === 'entered' || group === 'safe' || group === 'left') return 'updated';
  return random.pick(['updated', 'updated', 'updated', 'created', 'deleted']);
}

function modeBefore(group: Group, random: Random): string {
  return group === 'safe' || group === 'left' ? 'safe' : random.pick(MODES);
}

function modeAfter(group: Group, random: Random): string {
  return group === 'entered' || group === 'safe' ? 'safe' : random.pick(MODES);
}

function proseOf(bytes: number): string {
  const random = new Random();
  random.place(0, 0);
  let prose = '';
  while (prose.length < bytes) prose += `${random.pick(WORDS)} `;
  return prose;
}

/** How many spaces the spaced form of `text` holds after structural `:` and `,`. */
function structureOf(text: string): number {
  return text.split('": ').length - 1 + (text.split(', ').length - 1);
}

/** Breaks a payload so that every JSON parser refuses it. */
function spoil(text: string, slot: number): string {
  switch (slot % 4) {
    case 0:
      return text.slice(0, -1);
    case 1:
      return text.replace('"op"', '"op');
    case 2:
      return `${text},`;
    default:
      return text.replace('"remark', '"re\u0001mark');
  }
}
