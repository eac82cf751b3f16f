/**
 * What the walk goes on with when a container ends: by level, that container's slot, and the state of the one around it.
 *
 * PERF: each function is small enough to be folded into its caller, and its array with it; arrays that the caller
 * touches itself are looked up and checked each time.
 */
import { DEPTH_CEILING } from '../../core/limits.js';

const slots = new Int32Array(DEPTH_CEILING + 1);
const lefts = new Int32Array(DEPTH_CEILING + 1);
const stamps = new Int32Array(DEPTH_CEILING + 1);
const nodes = new Int32Array(DEPTH_CEILING + 1);
const wanteds = new Int32Array(DEPTH_CEILING + 1);
const wantedLefts = new Int32Array(DEPTH_CEILING + 1);

/** Slot of the container on `level`, or NONE. */
export function openSlot(level: number): number {
  return slots[level]!;
}

export function outerLeft(level: number): number {
  return lefts[level]!;
}

export function outerStamp(level: number): number {
  return stamps[level]!;
}

export function outerNode(level: number): number {
  return nodes[level]!;
}

export function outerWanted(level: number): number {
  return wanteds[level]!;
}

export function outerWantedLeft(level: number): number {
  return wantedLefts[level]!;
}

/** Keeps how far the container around one that opens on `level` was read; in two parts for the sake of folding. */
export function keepOuter(level: number, left: number, stamp: number): void {
  lefts[level] = left;
  stamps[level] = stamp;
}

/** Keeps the slot of the container that opens on `level`, and what is wanted in the one around it. */
export function keepWanted(level: number, slot: number, node: number, wanted: number, wantedLeft: number): void {
  slots[level] = slot;
  nodes[level] = node;
  wanteds[level] = wanted;
  wantedLefts[level] = wantedLeft;
}
