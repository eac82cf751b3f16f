/**
 * Every engine on tokens that stand across the places where blocks of bytes meet, at every distance from the payload's
 * start: runs of backslashes, escapes, characters of several bytes, numbers, words, keys and brackets.
 */
import { describe, expect, it } from 'vitest';
import { MALFORMED, NO_REASON, type Reason } from '../../src/core/verdict.js';
import {
  BEHIND_FILLER,
  BLOCK_MEMBERS,
  BLOCK_VALUES,
  INSIDE_STRING,
  SPACED_TEXTS,
  stringContents,
  UTF8_CONTENTS,
} from '../support/block-texts.js';
import { FUZZ_SUITE, fuzzScale } from '../support/fuzz-mode.js';
import { RANDOM_PATHS } from '../support/walker-comparison.js';
import { WalkerTrial } from '../support/walker-trial.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const BLOCK_BYTES = 64;
const utf8 = new TextEncoder();

/** The lengths of filler that a text is tried with: of several blocks in the long mode. */
const FILLERS = Array.from({ length: BLOCK_BYTES * fuzzScale(1, 4) }, (_, length) => length);

/** Counts what `check` finds. */
function tally(check: (note: (reason: Reason) => void) => void): Map<number, number> {
  const seen = new Map<number, number>();
  check((reason) => seen.set(reason, (seen.get(reason) ?? 0) + 1));
  return seen;
}

describe('tokens across the edges of blocks', FUZZ_SUITE, () => {
  it('are values wherever they begin', () => {
    const trial = new WalkerTrial(RANDOM_PATHS, LIMITS);
    const seen = tally((note) => {
      for (const value of BLOCK_VALUES) {
        for (const behind of BEHIND_FILLER) {
          for (const length of FILLERS) note(trial.check(utf8.encode(behind(value, length))));
        }
      }
    });
    for (const reason of [NO_REASON, MALFORMED]) expect(seen.get(reason)).toBeGreaterThan(10_000);
  });

  it('are told apart over any run of white space', () => {
    const trial = new WalkerTrial(RANDOM_PATHS, LIMITS);
    const seen = tally((note) => {
      for (const text of SPACED_TEXTS) {
        for (let length = 0; length <= 2 * BLOCK_BYTES; length++) {
          for (const space of [' ', ['\n', '\r\t', ' \u000b'][length % 3]!]) {
            const run = space.repeat(length / space.length + 1).slice(0, length);
            note(trial.check(utf8.encode(text.replaceAll('_', run))));
          }
        }
      }
    });
    for (const reason of [NO_REASON, MALFORMED]) expect(seen.get(reason)).toBeGreaterThan(1_000);
  });

  it('are contents of strings and keys wherever they begin', () => {
    const trial = new WalkerTrial(RANDOM_PATHS, LIMITS);
    const seen = tally((note) => {
      for (const content of stringContents()) {
        for (const inside of INSIDE_STRING) {
          for (const length of FILLERS) note(trial.check(utf8.encode(inside(content, length))));
        }
      }
    });
    for (const reason of [NO_REASON, MALFORMED]) expect(seen.get(reason)).toBeGreaterThan(10_000);
  });

  it('are characters of several bytes, whole and broken, wherever they begin', () => {
    const trial = new WalkerTrial(RANDOM_PATHS, LIMITS);
    const seen = tally((note) => {
      for (const hex of UTF8_CONTENTS) {
        // One byte each, then the bytes themselves.
        const content = Buffer.from(hex, 'hex').toString('latin1');
        for (const inside of INSIDE_STRING) {
          for (const length of FILLERS) {
            const text = inside(content, length).replaceAll('é', 'Ã©');
            note(trial.check(Buffer.from(text, 'latin1')));
          }
        }
      }
    });
    for (const reason of [NO_REASON, MALFORMED]) expect(seen.get(reason)).toBeGreaterThan(2_000);
  });

  it('are keys that are wanted, and nearly, wherever they begin', () => {
    const trial = new WalkerTrial(RANDOM_PATHS, LIMITS);
    const seen = tally((note) => {
      for (const members of BLOCK_MEMBERS) {
        for (const length of FILLERS) {
          note(trial.check(utf8.encode(`{${' '.repeat(length)}${members}}`)));
          note(trial.check(utf8.encode(`{"filler":"${'-'.repeat(length)}",${members}}`)));
          note(
            trial.check(utf8.encode(`{${members},"filler":"${'-'.repeat(length)}"${' '.repeat(length)},${members}}`)),
          );
        }
      }
    });
    expect(seen.get(NO_REASON)).toBeGreaterThan(4_000);
  });
});
