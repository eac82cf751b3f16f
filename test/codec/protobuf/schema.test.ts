/** Descriptor sets: what compiles, what the fields come out as, and what a refusal says of the place of a fault. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  type DescriptorProtoSchema,
  Edition,
  FeatureSet_FieldPresence as Presence,
  FeatureSet_MessageEncoding as Encoding,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  type FieldDescriptorProtoSchema,
  type FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import type { ProtobufField } from '../../../src/codec/protobuf/message.js';
import { compileProtobuf } from '../../../src/codec/protobuf/schema.js';
import { SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX } from '../../../src/core/limits.js';
import { problemFrom } from '../../support/refused.js';

type File = MessageInitShape<typeof FileDescriptorProtoSchema>;
type Message = MessageInitShape<typeof DescriptorProtoSchema>;
type Field = MessageInitShape<typeof FieldDescriptorProtoSchema>;

function encoded(...files: File[]): Uint8Array {
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: files }));
}

/** One file `t.proto`, proto3, with message `t.M` of these fields. */
function fileOf(fields: Field[], more: File = {}): File {
  return { name: 't.proto', package: 't', syntax: 'proto3', messageType: [{ name: 'M', field: fields }], ...more };
}

function fieldsOf(file: File): readonly ProtobufField[] {
  return compileProtobuf(encoded(file), 't.M').root.fields;
}

function refusal(files: File[], messageType = 't.M') {
  return problemFrom(() => compileProtobuf(encoded(...files), messageType));
}

/** Messages `N`, each within the one before. */
function nested(levels: number): Message {
  return { name: 'N', nestedType: levels > 1 ? [nested(levels - 1)] : [] };
}

const INT: Field = { name: 'a', number: 1, label: Label.OPTIONAL, type: Type.INT32 };

describe('the message of a schema', () => {
  it('is found by its full name, with or without a leading dot, nested ones too', () => {
    const set = encoded(fileOf([INT], { messageType: [{ name: 'M', field: [INT], nestedType: [{ name: 'In' }] }] }));
    for (const name of ['t.M', '.t.M']) expect(compileProtobuf(set, name).root.name).toBe('t.M');
    expect(compileProtobuf(set, 't.M.In').root).toMatchObject({ name: 't.M.In', fields: [] });
  });

  it('is refused by name where there is none, or an enum, or the entry of a map', () => {
    const entry = {
      name: 'E',
      options: { mapEntry: true },
      field: [
        { ...INT, name: 'key' },
        { ...INT, number: 2, name: 'v' },
      ],
    };
    const enumType = [{ name: 'Kind', value: [{ name: 'A', number: 0 }] }];
    const file = fileOf([], { enumType, messageType: [{ name: 'M', field: [INT] }, entry] });
    for (const name of ['t.X', 'M', 't.Kind', '', '.']) {
      const problem = refusal([file], name);
      expect(problem).toMatchObject({ code: 'invalid_request' });
      expect(problem.detail).toContain('declares no message');
    }
    expect(refusal([file], 't.E').detail).toContain('entry of a map');
  });

  it('may hold itself, and messages of other files of the set in any order', () => {
    const link: Field = { name: 'next', number: 2, label: Label.OPTIONAL, type: Type.MESSAGE, typeName: '.t.M' };
    const far: Field = { name: 'far', number: 3, label: Label.OPTIONAL, type: Type.MESSAGE, typeName: '.u.Far' };
    const main = fileOf([INT, link, far], { dependency: ['u.proto'] });
    const other = { name: 'u.proto', package: 'u', syntax: 'proto2', messageType: [{ name: 'Far', field: [INT] }] };
    for (const files of [
      [main, other],
      [other, main],
    ]) {
      const { root } = compileProtobuf(encoded(...files), 't.M');
      expect(root.byNumber.get(2)?.message).toBe(root);
      // Each file by its own syntax.
      expect(root.byNumber.get(1)?.presence).toBe('implicit');
      expect(root.byNumber.get(3)?.message?.fields[0]?.presence).toBe('explicit');
    }
  });

  it('finds types by names without a leading dot from the innermost scope outwards', () => {
    const named = (typeName: string): Field => ({ name: 'x', number: 9, label: Label.OPTIONAL, typeName });
    const messageType = [
      { name: 'M', field: [named('X')], nestedType: [{ name: 'X', field: [named('Y')] }] },
      { name: 'Y' },
      { name: 'X' },
    ];
    const { root } = compileProtobuf(encoded(fileOf([], { messageType })), 't.M');
    expect(root.fields[0]).toMatchObject({ type: 'message', message: { name: 't.M.X' } });
    expect(root.fields[0]?.message?.fields[0]?.message?.name).toBe('t.Y');
  });
});

describe('a field', () => {
  it('has presence as its syntax says', () => {
    const message: Field = { name: 'b', number: 2, label: Label.OPTIONAL, type: Type.MESSAGE, typeName: '.t.M' };
    const optional: Field = {
      name: 'c',
      number: 3,
      label: Label.OPTIONAL,
      type: Type.INT32,
      proto3Optional: true,
      oneofIndex: 0,
    };
    const list: Field = { name: 'd', number: 4, label: Label.REPEATED, type: Type.INT32 };
    const messageType = [{ name: 'M', field: [INT, message, optional, list], oneofDecl: [{ name: '_c' }] }];
    const inProto3 = fieldsOf(fileOf([], { messageType }));
    expect(inProto3.map(({ presence }) => presence)).toEqual(['implicit', 'explicit', 'explicit', 'implicit']);
    expect(inProto3.map(({ oneof }) => oneof)).toEqual([-1, -1, -1, -1]);
    const inProto2 = fieldsOf(
      fileOf([INT, message, list, { ...INT, name: 'r', number: 5, label: Label.REQUIRED }], { syntax: 'proto2' }),
    );
    expect(inProto2.map(({ presence }) => presence)).toEqual(['explicit', 'explicit', 'implicit', 'required']);
  });

  it('inherits features of editions from its message and its file, and overrides them', () => {
    const implicit = { features: { fieldPresence: Presence.IMPLICIT } };
    const required = { features: { fieldPresence: Presence.LEGACY_REQUIRED } };
    const explicit = { features: { fieldPresence: Presence.EXPLICIT } };
    const fields: Field[] = [
      INT,
      { ...INT, name: 'b', number: 2, options: required },
      { ...INT, name: 'c', number: 3, options: explicit },
    ];
    const edition = { syntax: 'editions', edition: Edition.EDITION_2023 };
    const presences = (file: File) => fieldsOf(file).map(({ presence }) => presence);
    expect(presences(fileOf(fields, edition))).toEqual(['explicit', 'required', 'explicit']);
    expect(presences(fileOf(fields, { ...edition, options: implicit }))).toEqual(['implicit', 'required', 'explicit']);
    const messageType = [{ name: 'M', field: fields, options: implicit }];
    expect(presences(fileOf([], { ...edition, messageType }))).toEqual(['implicit', 'required', 'explicit']);
  });

  it('of an enum keeps the first value as its default', () => {
    const field: Field = { name: 'e', number: 1, label: Label.OPTIONAL, type: Type.ENUM, typeName: '.t.E' };
    const values = [
      { name: 'B', number: 4 },
      { name: 'A', number: 0 },
    ];
    expect(fieldsOf(fileOf([field], { enumType: [{ name: 'E', value: values }] }))[0]).toMatchObject({
      type: 'enum',
      firstNumber: 4,
    });
  });

  it('that is repeated and holds the entry of a map is a map', () => {
    const field: Field = { name: 'm', number: 1, label: Label.REPEATED, type: Type.MESSAGE, typeName: '.t.M.MEntry' };
    const entry = {
      name: 'MEntry',
      options: { mapEntry: true },
      field: [
        { name: 'key', number: 1, label: Label.OPTIONAL, type: Type.STRING },
        { name: 'value', number: 2, label: Label.OPTIONAL, type: Type.MESSAGE, typeName: '.t.M' },
      ],
    };
    const messageType = [{ name: 'M', field: [field], nestedType: [entry] }];
    // Entries are never groups, whatever the features of the file.
    const delimited = { options: { features: { messageEncoding: Encoding.DELIMITED } } };
    for (const more of [{}, { syntax: 'editions', edition: Edition.EDITION_2024, ...delimited }]) {
      expect(fieldsOf(fileOf([], { messageType, ...more }))[0]).toMatchObject({ shape: 'map', presence: 'implicit' });
    }
    expect(
      refusal([
        fileOf([], { messageType: [{ name: 'M', field: [{ ...field, label: Label.OPTIONAL }], nestedType: [entry] }] }),
      ]).detail,
    ).toMatch(/"m".*"t\.M".*"t\.proto".*without being repeated/);
  });
});

describe('a set that does not compile', () => {
  const place = /"a".*"t\.M".*"t\.proto"/;

  it('names the field whose type is missing, of the wrong kind, or not given', () => {
    const field: Field = { name: 'a', number: 1, label: Label.OPTIONAL };
    const missing = refusal([fileOf([{ ...field, type: Type.MESSAGE, typeName: '.t.Gone' }])]);
    expect(missing).toMatchObject({ code: 'invalid_request', given: '".t.Gone"' });
    expect(missing.detail).toMatch(place);
    expect(refusal([fileOf([{ ...field, type: Type.ENUM, typeName: '.t.M' }])]).detail).toMatch(/is of type enum/);
    expect(refusal([fileOf([field])]).detail).toMatch(/has no type/);
    const empty = fileOf([{ ...field, type: Type.ENUM, typeName: '.t.E' }], { enumType: [{ name: 'E' }] });
    expect(refusal([empty]).detail).toMatch(/enum without values/);
  });

  it('names the field whose number or name is taken or out of range', () => {
    expect(refusal([fileOf([{ ...INT, name: 'b' }, INT])])).toMatchObject({
      given: 1,
      detail: expect.stringMatching(place),
    });
    expect(refusal([fileOf([INT, { ...INT, number: 2 }])]).detail).toMatch(/"a".*declared twice/);
    for (const number of [0, -1, 2 ** 29]) {
      expect(refusal([fileOf([{ ...INT, number }])])).toMatchObject({
        given: number,
        detail: expect.stringMatching(place),
      });
    }
    expect(fieldsOf(fileOf([{ ...INT, number: 2 ** 29 - 1 }]))).toHaveLength(1);
  });

  it('names the field that is a group, where the message leads to it', () => {
    const group: Field = { name: 'g', number: 3, label: Label.OPTIONAL, type: Type.GROUP, typeName: '.t.G' };
    const to: Field = { name: 'to', number: 2, label: Label.OPTIONAL, type: Type.MESSAGE, typeName: '.t.H' };
    const messageType = [
      { name: 'M', field: [to] },
      { name: 'H', field: [group] },
      { name: 'G', field: [INT] },
      { name: 'Far' },
    ];
    const file = fileOf([], { syntax: 'proto2', messageType });
    expect(refusal([file]).detail).toMatch(/"g".*"t\.H".*"t\.proto".*group/);
    expect(compileProtobuf(encoded(file), 't.Far').root.fields).toEqual([]);
    const delimited = {
      syntax: 'editions',
      edition: Edition.EDITION_2023,
      options: { features: { messageEncoding: Encoding.DELIMITED } },
    };
    expect(refusal([fileOf([{ ...to, typeName: '.t.M' }], delimited)]).detail).toMatch(/"to".*group/);
  });

  it('names the import that is missing, the type that is declared twice, the file that is given twice', () => {
    expect(refusal([fileOf([INT], { dependency: ['gone.proto'] })])).toMatchObject({
      given: '"gone.proto"',
      detail: expect.stringMatching(/"t\.proto" imports "gone\.proto"/),
    });
    expect(refusal([fileOf([], { messageType: [{ name: 'M' }, { name: 'M' }] })]).detail).toMatch(
      /"t\.M".*declared twice/,
    );
    expect(refusal([fileOf([INT]), fileOf([INT])]).detail).toMatch(/two files "t\.proto"/);
    expect(refusal([fileOf([], { messageType: [{ name: '' }] })]).detail).toMatch(/no name/);
  });

  it('names the entry of a map that is none, and the oneof that is none', () => {
    const entry = {
      name: 'E',
      options: { mapEntry: true },
      field: [
        { ...INT, name: 'key', type: Type.DOUBLE },
        { ...INT, number: 2, name: 'v' },
      ],
    };
    expect(refusal([fileOf([], { messageType: [{ name: 'M' }, entry] })]).detail).toMatch(/"t\.E".*without being one/);
    expect(refusal([fileOf([{ ...INT, oneofIndex: 0 }])])).toMatchObject({
      given: 0,
      detail: expect.stringMatching(place),
    });
    expect(refusal([fileOf([{ ...INT, oneofIndex: -1 }])]).detail).toMatch(place);
  });

  it('names syntaxes and editions that are not known', () => {
    expect(refusal([fileOf([INT], { syntax: 'proto4' })])).toMatchObject({ given: '"proto4"' });
    expect(refusal([fileOf([INT], { syntax: 'editions', edition: Edition.EDITION_99999_TEST_ONLY })]).detail).toMatch(
      /edition/,
    );
  });

  it('says that bytes are no descriptor set, whatever they are', () => {
    for (const bytes of [[0xff], [0x0a, 0x05, 0x01], [0x0a, 0x02, 0x08], [0x08]]) {
      expect(() => compileProtobuf(Uint8Array.from(bytes), 'M')).toThrow(
        /no encoded google\.protobuf\.FileDescriptorSet/,
      );
    }
    expect(() => compileProtobuf(new Uint8Array(0), 'M')).toThrow(/declares no message "M"/);
  });
});

describe('limits of a set', () => {
  it('are its bytes', () => {
    const problem = problemFrom(() => compileProtobuf(new Uint8Array(SCHEMA_BYTES_MAX + 1), 'M'));
    expect(problem).toMatchObject({ limit: SCHEMA_BYTES_MAX, given: SCHEMA_BYTES_MAX + 1 });
  });

  it('are the levels of messages within messages, and the parts of a package', () => {
    const file = (levels: number) => fileOf([], { messageType: [nested(levels)] });
    const innermost = `t${'.N'.repeat(SCHEMA_DEPTH_MAX)}`;
    expect(compileProtobuf(encoded(file(SCHEMA_DEPTH_MAX)), innermost).root.name).toBe(innermost);
    expect(refusal([file(SCHEMA_DEPTH_MAX + 1)])).toMatchObject({
      limit: SCHEMA_DEPTH_MAX,
      given: SCHEMA_DEPTH_MAX + 1,
    });
    expect(refusal([fileOf([INT], { package: 'p.'.repeat(SCHEMA_DEPTH_MAX) + 'p' })])).toMatchObject({
      limit: SCHEMA_DEPTH_MAX,
    });
  });

  it('are the bytes of a name, and refusals show only the start of a long one', () => {
    const problem = refusal([fileOf([], { messageType: [{ name: 'x'.repeat(5000) }] })]);
    expect(problem).toMatchObject({ limit: 1024, given: 5002 });
    expect(problem.detail.length).toBeLessThan(400);
  });
});
