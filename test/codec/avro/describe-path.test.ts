/** What an Avro schema says of a path: closed records, maps of any key, unions as all their branches. */
import { expect, it } from 'vitest';
import { describePath } from '../../../src/codec/avro/describe-path.js';
import { compileAvro } from '../../../src/codec/avro/schema.js';
import type { Path } from '../../../src/core/path.js';

const SCHEMA = compileAvro(
  JSON.stringify({
    type: 'record',
    name: 'Nest',
    fields: [
      { name: 'height', type: 'int' },
      { name: 'stage', type: { type: 'enum', name: 'Stage', symbols: ['EGG'] } },
      { name: 'photo', type: 'bytes' },
      { name: 'sum', type: { type: 'fixed', name: 'Sum', size: 2 } },
      { name: 'eggs', type: { type: 'array', items: ['null', 'float', 'double'] } },
      { name: 'tally', type: { type: 'map', values: 'Nest' } },
      {
        name: 'tag',
        type: ['null', 'boolean', { type: 'record', name: 'Tag', fields: [{ name: 'ring', type: 'long' }] }],
      },
      {
        name: 'next',
        type: ['null', 'Nest', { type: 'record', name: 'End', fields: [{ name: 'ring', type: 'string' }] }],
      },
      { name: 'none', type: [] },
    ],
  }),
);

function typesAt(...path: Path): string[] {
  const shape = describePath(SCHEMA, path);
  return shape.kind === 'value' ? [...shape.types].sort() : [`${shape.kind}`];
}

it.each([
  [[], ['object']],
  [['height'], ['integer']],
  [['stage'], ['string']],
  [['photo'], ['array']],
  [['photo', 70_000], ['integer']],
  [['sum', 1], ['integer']],
  [['eggs'], ['array']],
  [
    ['eggs', 4_294_967_295],
    ['double', 'null'],
  ],
  [['tally'], ['object']],
  [['tally', 'any key'], ['object']],
  [['tally', 'any key', 'height'], ['integer']],
  [['tag'], ['bool', 'null', 'object']],
  [['tag', 'ring'], ['integer']],
  [['next', 'next', 'next', 'stage'], ['string']],
  [['next', 'ring'], ['string']],
] as [Path, string[]][])('%j holds %j', (path, types) => {
  expect(typesAt(...path)).toEqual(types);
});

it.each([
  [['hight'], 0, 9],
  [['tally', 'x', 'hight'], 2, 9],
  [['tag', 'rings'], 1, 1],
  [['next', 'rings'], 1, 10],
  [['height', 'x'], 1, 0],
  [['eggs', 'x'], 1, 0],
  [['eggs', 0, 'x'], 2, 0],
  [[0], 0, 0],
  [['tally', 0], 1, 0],
  [['sum', 2], 1, 0],
  [['none'], 0, 9],
] as [Path, number, number][])(
  '%j leads nowhere from step %i on, where %i keys are known',
  (path, step, candidates) => {
    const shape = describePath(SCHEMA, path);
    expect(shape).toMatchObject({ kind: 'closed-missing', step });
    expect(shape.kind === 'closed-missing' && shape.candidates).toHaveLength(candidates);
  },
);
