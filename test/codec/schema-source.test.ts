/** The identity of a writer schema: what changes it and what does not. */
import { expect, it } from 'vitest';
import { schemaHash } from '../../src/codec/schema-source.js';

const BYTES = Uint8Array.of(1, 2, 3);
const DESCRIPTORS = { kind: 'protobuf', descriptorSet: BYTES, messageType: 'a.B' } as const;

it('is the same for the same kind, message and bytes', () => {
  expect(schemaHash({ ...DESCRIPTORS, descriptorSet: Uint8Array.from(BYTES) })).toBe(schemaHash(DESCRIPTORS));
  expect(schemaHash({ kind: 'avro', schema: '"int"' })).toMatch(/^[0-9a-f]{64}$/);
});

it('a leading dot of the message name says nothing', () => {
  expect(schemaHash({ ...DESCRIPTORS, messageType: '.a.B' })).toBe(schemaHash(DESCRIPTORS));
});

it('differs by kind, by message, by any byte, and by where the name ends', () => {
  const hashes = [
    schemaHash(DESCRIPTORS),
    schemaHash({ ...DESCRIPTORS, messageType: 'a.C' }),
    schemaHash({ ...DESCRIPTORS, descriptorSet: Uint8Array.of(1, 2) }),
    schemaHash({ kind: 'avro', schema: '\u0001\u0002\u0003' }),
    schemaHash({ kind: 'proto_text', text: '\u0001\u0002\u0003', messageType: 'a.B' }),
    schemaHash({ kind: 'proto_text', text: 'B\u0001\u0002\u0003', messageType: 'a.' }),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
});
