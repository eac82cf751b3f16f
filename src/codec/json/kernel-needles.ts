/**
 * The needle gate on the host's side: which needles the kernel seeks (`workers/kernel/needles.ts` does the seeking).
 *
 * A reader offers several legs, and the one whose needles are rarest is worth most: now and then some payloads are looked
 * through for all needles, and each reader's rarest leg is taken. The gate is off until that is known, and while too few
 * payloads are barren to be worth the search. What was learned may outlive a scan: it decides what is spent, never what
 * is found.
 *
 * Invariant: the table is written by the owner of the kernel's path region alone, which loads it with that region.
 */
import type { Kernel } from '../../core/kernel.js';
import { NO_REASON } from '../../core/verdict.js';
import type { NeedleGate } from '../walker.js';
import { needleTable, NEEDLES_MAX, seek } from './needle-table.js';

/** Needles of the gate: each costs a search, and four of them half of what finding values does. */
const GATE_NEEDLES_MAX = 4;
/** Payloads that are looked through for all needles, and how many are walked from one look to the next. */
const SAMPLES = 64;
const WALKS_PER_LOOK = 16 * 1024;
/** After so many payloads behind the gate it is turned off, unless half of them were barren. */
const WALKS_PER_VERDICT = 256;

/** Needles of one leg: their numbers as bits of a word. */
type Leg = number;

export class KernelNeedles {
  private readonly kernel: Kernel;
  private readonly table: Uint8Array;
  /** The legs of each reader; none where the gate is never on. */
  private readonly choices: readonly (readonly Leg[])[];
  private readonly barren: number;
  private readonly numbersLeft: number;
  /** Which needles stood in the payloads of this look. */
  private readonly samples = new Int32Array(SAMPLES);
  private sampled = 0;
  /** Walks since the last look ended, and since the last verdict. */
  private walksSinceLook = 0;
  private walks = 0;
  private barrenWalks = 0;
  private isOn = false;

  /** Null for a program without a gate. */
  constructor(kernel: Kernel, gate: NeedleGate | null) {
    this.kernel = kernel;
    this.barren = kernel.exports.BARREN.value;
    this.numbersLeft = kernel.exports.NUMBERS_LEFT.value;
    const numbered = numberedLegs(gate?.choices ?? []);
    this.choices = numbered?.choices ?? [];
    this.table = needleTable(numbered?.needles ?? [], gate?.payloadBytesMax ?? 0);
  }

  /** Puts the table in its place, over what another program may have left there. */
  load(): void {
    const { buffer, exports } = this.kernel;
    new Uint8Array(buffer, exports.NEEDLES_AT.value, exports.NEEDLES_BYTES.value).set(this.table);
  }

  /** To be told of every `count` payloads that the kernel has just walked, from row `first` on. */
  noteWalked(first: number, count: number): void {
    if (this.choices.length === 0) return;
    if (this.sampled < SAMPLES) {
      this.look(first, count);
      return;
    }
    if (this.isOn) this.judge(first, count);
    this.walksSinceLook += count;
    if (this.walksSinceLook >= WALKS_PER_LOOK) this.sampled = 0;
  }

  private look(first: number, count: number): void {
    const { exports, frames } = this.kernel;
    for (let row = first; row < first + count && this.sampled < SAMPLES; row++) {
      const reason = frames.payloadReasons[row]!;
      const isValid = reason === NO_REASON || reason === this.barren || reason === this.numbersLeft;
      if (isValid) this.samples[this.sampled++] = exports.findNeedles(row);
    }
    if (this.sampled < SAMPLES) return;
    this.walksSinceLook = 0;
    this.choose();
  }

  /** Takes each reader's rarest leg, if half the payloads are without all of those. */
  private choose(): void {
    let chosen: Leg = 0;
    for (let reader = 0; reader < this.choices.length; reader++) {
      const legs = this.choices[reader]!;
      let rarest = legs[0]!;
      for (let at = 1; at < legs.length; at++) if (this.share(legs[at]!) < this.share(rarest)) rarest = legs[at]!;
      chosen |= rarest;
    }
    const isWorthIt = bitCount(chosen) <= GATE_NEEDLES_MAX && this.share(chosen) * 2 <= SAMPLES;
    this.turn(isWorthIt ? chosen : 0);
  }

  /** Payloads of the look in which some needle of the leg stood. */
  private share(leg: Leg): number {
    let count = 0;
    for (let at = 0; at < SAMPLES; at++) if ((this.samples[at]! & leg) !== 0) count += 1;
    return count;
  }

  private judge(first: number, count: number): void {
    const { payloadReasons } = this.kernel.frames;
    for (let row = first; row < first + count; row++) if (payloadReasons[row] === this.barren) this.barrenWalks += 1;
    this.walks += count;
    if (this.walks < WALKS_PER_VERDICT) return;
    if (this.barrenWalks * 2 < this.walks) this.turn(0);
    this.walks = 0;
    this.barrenWalks = 0;
  }

  /** Makes `needles` those of the gate; 0 turns it off. */
  private turn(needles: Leg): void {
    this.isOn = needles !== 0;
    this.walks = 0;
    this.barrenWalks = 0;
    seek(this.table, needles);
    this.load();
  }
}

/** Distinct needles and each reader's legs over them; null where some reader's legs do not fit the table. */
function numberedLegs(
  choices: NeedleGate['choices'],
): { readonly needles: readonly Uint8Array[]; readonly choices: readonly (readonly Leg[])[] } | null {
  const needles: Uint8Array[] = [];
  const numbers = new Map<string, number>();
  const numbered: Leg[][] = choices.map(() => []);
  const most = Math.max(0, ...choices.map((legs) => legs.length));
  // Every reader's first leg comes before anyone's second.
  for (let at = 0; at < most; at++) {
    for (const [reader, legs] of choices.entries()) {
      const leg = legs[at] ?? [];
      const keys = leg.map((needle) => needle.join());
      const unknown = new Set(keys.filter((key) => !numbers.has(key)));
      const fits = leg.length <= GATE_NEEDLES_MAX && numbers.size + unknown.size <= NEEDLES_MAX;
      if (leg.length === 0 || !fits) continue;
      for (const [index, key] of keys.entries()) {
        if (!numbers.has(key)) numbers.set(key, needles.push(leg[index]!) - 1);
      }
      numbered[reader]!.push(keys.reduce((bits, key) => bits | (1 << numbers.get(key)!), 0));
    }
  }
  return numbered.every((legs) => legs.length > 0) ? { needles, choices: numbered } : null;
}

function bitCount(word: number): number {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
