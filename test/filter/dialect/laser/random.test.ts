/** Properties of the language over random filters, and what the generator covers (it is shared, so it must). */
import { describe, expect, it } from 'vitest';
import { forEachLeaf, type Leaf } from '../../../../src/filter/ir.js';
import { compileLaser } from '../../../../src/filter/dialect/laser/compile.js';
import { randomFilter } from '../../../support/random-filter.js';
import { cachedRegexEngine } from '../../../support/regex-engine.js';
import { Seeded } from '../../../support/seeded.js';
import { untidied } from '../../../support/untidied-filter.js';

const tolerant = { strict: false, regex: cachedRegexEngine, seeksMistakes: true };
const strict = { strict: true, regex: cachedRegexEngine, seeksMistakes: true };

describe('random filters', () => {
  it('have a canonical text that reads back as itself', () => {
    const seeded = new Seeded(11);
    for (let round = 0; round < 2_000; round += 1) {
      const compiled = compileLaser(randomFilter(seeded), strict);
      const again = compileLaser(compiled.canonical, strict);
      expect(again).toEqual(compiled);
    }
  });

  it('keep canonical text, digest and meaning however untidily they are written', () => {
    const seeded = new Seeded(12);
    let warned = 0;
    for (let round = 0; round < 2_000; round += 1) {
      const text = randomFilter(seeded, { codec: seeded.pick(['json', 'cbor', 'avro', 'protobuf', 'headers_only']) });
      const compiled = compileLaser(text, strict);
      expect(compileLaser(untidied(text, seeded, true), strict)).toEqual(compiled);
      const { warnings, ...rest } = compileLaser(untidied(text, seeded), tolerant);
      const about = warnings.filter(({ reason }) => !reason.endsWith('unknown_member') && !reason.endsWith('_members'));
      expect({ ...rest, warnings: about }).toEqual(compiled);
      warned += warnings.length - about.length;
    }
    expect(warned).toBeGreaterThan(500);
  });

  it('cover every operator with every literal it allows, on payload and header', () => {
    const met = new Set<string>();
    const meet = (leaf: Leaf): void => {
      const from = leaf.source.from;
      if (leaf.node === 'presence') met.add(`presence ${leaf.wanted}`);
      else if (leaf.node === 'text') met.add(`${from} text ${leaf.kind} ${leaf.caseInsensitive}`);
      else if (leaf.node === 'coerce') met.add(`${leaf.coercion.kind} ${leaf.op} ${leaf.literals[0]!.kind}`);
      else met.add(`${from} ${leaf.op} ${leaf.literals[0]!.kind}`);
    };
    const seeded = new Seeded(5);
    for (let round = 0; round < 4_000; round += 1) {
      forEachLeaf(compileLaser(randomFilter(seeded), strict).lowered.root, meet);
    }
    const wanted = new Set(['presence true', 'presence false', 'payload eq null', 'payload ne null']);
    for (const from of ['payload', 'header']) {
      for (const kind of ['equals', 'prefix', 'suffix', 'contains', 'glob', 'regex']) {
        wanted.add(`${from} text ${kind} true`).add(`${from} text ${kind} false`);
      }
      for (const literal of ['boolean', 'integer', 'double', 'string']) {
        for (const op of ['eq', 'ne', 'in', 'contains']) wanted.add(`${from} ${op} ${literal}`);
        for (const op of literal === 'boolean' ? [] : ['lt', 'lte', 'gt', 'gte'])
          wanted.add(`${from} ${op} ${literal}`);
      }
      wanted.add(`${from} prefix string`);
    }
    for (const op of ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in']) {
      for (const literal of ['integer', 'string'])
        wanted.add(`number ${op} ${literal}`).add(`timestamp ${op} ${literal}`);
    }
    expect([...met].toSorted()).toEqual([...wanted].toSorted());
  });
});
