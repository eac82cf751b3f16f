/** A program over slots that come in rows reads the row of the current record, and no other. */
import { describe, expect, it } from 'vitest';
import { Slots, SLOT_BYTES } from '../../src/core/slots.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { compileProgram } from '../../src/filter/program.js';
import type { ProgramDeps } from '../../src/filter/program-deps.js';
import { programInputs } from '../../src/scan/program-inputs.js';
import { beginRecord, shown } from '../support/program.js';
import { randomFilter } from '../support/random-filter.js';
import { RANDOM_RECORD_LIMITS, randomRecord } from '../support/random-record.js';
import { cachedRegexEngine } from '../support/regex-engine.js';
import { Seeded } from '../support/seeded.js';

const ROWS = 3;
const COLUMNS = ['numbers', 'high', 'low', 'starts', 'ends', 'kinds'] as const;

/** Rows full of what no record holds, and a way to put what `from` holds into the next one of them. */
function rowsOver(from: Slots): { slots: Slots; turn: () => void } {
  const buffer = new Uint8Array(from.count * ROWS * SLOT_BYTES).fill(0xff).buffer;
  const slots = new Slots(from.count, { buffer, at: 0, rows: ROWS });
  const turn = () => {
    new Uint8Array(buffer).fill(0xff);
    slots.base = (slots.base + slots.count) % (slots.count * ROWS);
    for (const column of COLUMNS) slots[column].set(from[column], slots.base);
  };
  return { slots, turn };
}

/** The same walkers, every record in another row. */
function inRows(inputs: ProgramDeps): ProgramDeps {
  return {
    ...inputs,
    makeWalker(codec, paths, limits) {
      const walker = inputs.makeWalker(codec, paths, limits);
      const { slots, turn } = rowsOver(walker.slots);
      return {
        slots,
        elements: walker.elements,
        isBarren: false,
        get unescaped() {
          return walker.unescaped;
        },
        unescape: (...range) => walker.unescape(...range),
        walk(...range) {
          const reason = walker.walk(...range);
          turn();
          return reason;
        },
      };
    },
    makeHeaders(keys) {
      const headers = inputs.makeHeaders(keys);
      const { slots, turn } = rowsOver(headers.slots);
      return {
        slots,
        readAll(...range) {
          const isGood = headers.readAll(...range);
          turn();
          return isGood;
        },
        readOnly(...range) {
          const isGood = headers.readOnly(...range);
          turn();
          return isGood;
        },
      };
    },
  };
}

describe('slots in rows', () => {
  it('give every filter the verdicts that slots of one row give, with and without the index', () => {
    const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 41));
    const inputs = programInputs(cachedRegexEngine, RANDOM_RECORD_LIMITS);
    for (let round = 0; round < 400; round++) {
      const filters = Array.from(
        { length: 4 },
        () => compileLaser(randomFilter(random), { strict: true, regex: cachedRegexEngine }).lowered,
      );
      const plain = compileProgram(filters, inputs);
      const rows = compileProgram(filters, inRows(inputs));
      for (const filter of filters.keys()) {
        plain.setActive(filter, true);
        rows.setActive(filter, true);
      }
      for (let turn = 0; turn < 10; turn++) {
        const { payload, headerBlock } = randomRecord(random);
        for (const program of [plain, rows]) beginRecord(program, payload, headerBlock);
        const wanted = plain.candidates.slice(0, plain.select());
        expect(rows.candidates.slice(0, rows.select())).toEqual(wanted);
        for (const filter of filters.keys()) {
          expect(shown(rows.evaluate(filter))).toEqual(shown(plain.evaluate(filter)));
        }
      }
    }
  });
});
