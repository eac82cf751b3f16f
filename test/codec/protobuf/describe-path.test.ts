/** What a Protobuf schema says of a path before any payload is seen. */
import { describe, expect, it } from 'vitest';
import { describePath } from '../../../src/codec/protobuf/describe-path.js';
import { compileProtoText } from '../../../src/codec/protobuf/proto-text.js';
import type { Path } from '../../../src/core/path.js';

const SCHEMA = compileProtoText(
  `syntax = "proto3";
  message M {
    int64 n = 1; double d = 2; float f = 3; bool b = 4; string s = 5; bytes raw = 6; E e = 7; M m = 8;
    repeated string list = 9; repeated M many = 10; map<int32, M> map = 11; repeated bytes blobs = 12;
  }
  enum E { Z = 0; }`,
  'M',
);
const KEYS = ['n', 'd', 'f', 'b', 's', 'raw', 'e', 'm', 'list', 'many', 'map', 'blobs'];

describe('a path', () => {
  it.each([
    [[], 'object'],
    [['n'], 'integer'],
    [['d'], 'double'],
    [['f'], 'double'],
    [['b'], 'bool'],
    [['s'], 'string'],
    [['raw'], 'array'],
    [['raw', 3], 'integer'],
    [['e'], 'integer'],
    [['m'], 'object'],
    [['m', 'm', 's'], 'string'],
    [['list'], 'array'],
    [['list', 4], 'string'],
    [['many', 0], 'object'],
    [['many', 0, 'many', 1, 'n'], 'integer'],
    [['map'], 'object'],
    [['blobs', 1], 'array'],
    [['blobs', 1, 2], 'integer'],
  ] as [Path, string][])('%j leads to one type, %s', (path, type) => {
    expect(describePath(SCHEMA, path)).toEqual({ kind: 'value', types: new Set([type]) });
  });

  it.each([[['map', '1']], [['map', 'x', 'anything', 0]], [['m', 'map', 'k', 'k']]] as [Path][])(
    '%j goes below a map, which is open',
    (path) => {
      expect(describePath(SCHEMA, path)).toEqual({ kind: 'open' });
    },
  );

  it.each([
    [['x'], 0, KEYS],
    [[0], 0, KEYS],
    [['m', 'N'], 1, KEYS],
    [['m', 'm', 'x', 'y'], 2, KEYS],
    [['many', 2, 'x'], 2, KEYS],
    [['s', 'x'], 1, []],
    [['s', 0], 1, []],
    [['n', 'x', 'y'], 1, []],
    [['list', 'x'], 1, []],
    [['list', 0, 'x'], 2, []],
    [['many', 'n'], 1, []],
    [['raw', 'x'], 1, []],
    [['raw', 0, 0], 2, []],
    [['blobs', 0, 0, 'x'], 3, []],
    [['map', 0], 1, []],
  ] as [Path, number, string[]][])('%j leads nowhere from step %i on', (path, step, candidates) => {
    expect(describePath(SCHEMA, path)).toEqual({ kind: 'closed-missing', step, candidates });
  });
});
