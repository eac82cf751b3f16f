/**
 * `laser` document text to the dialect's tree: shape, names and types (contract: laser-filter §1).
 *
 * Everything that can be said of one part alone is refused here: unknown node kinds, operators, kinds, policies and
 * codecs, missing and repeated members, wrong types, integers out of range, faulty paths. What needs more than one
 * part, and every bound on the whole, is `validate`'s.
 *
 * Invariant: integers come from the text as `bigint`, never through a double. Recursion is bounded by the reader's own
 * depth bound, so a deep document is refused by name in `validate`, not by the stack.
 */
import { FILTER_HEADER_KEY_BYTES_MAX, LITERAL_BYTES_MAX } from '../../../core/limits.js';
import { parsePath } from '../../paths.js';
import type { CodecName, Coercion, CompareOp, FaultPolicy, RecordPolicy, TextKind, TimestampFormat } from '../../ir.js';
import { nameOfKind, shown, textAt, type FilterReader, type Members } from './members.js';
import type { Comparison, LaserFilter, LaserNode, Literal, PathRef, ScalarLiteral, Spot, TextMatch } from './tree.js';

/** The versions of the document and of the evaluator that this dialect reads. */
export const LASER_VERSION = 1;
export const LASER_EVALUATOR_VERSION = 1;

const CODECS = ['json', 'cbor', 'avro', 'protobuf', 'headers_only'] as const satisfies readonly CodecName[];
const FAULT_POLICIES = ['stop', 'pass', 'drop'] as const satisfies readonly FaultPolicy[];
const RECORD_POLICIES = ['reject', 'pass'] as const satisfies readonly RecordPolicy[];
const OPS = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'contains', 'prefix'] as const satisfies readonly CompareOp[];
const TEXT_KINDS = ['equals', 'prefix', 'suffix', 'contains', 'glob', 'regex'] as const satisfies readonly TextKind[];
const FORMATS = [
  'rfc3339',
  'epoch_seconds',
  'epoch_millis',
  'epoch_micros',
] as const satisfies readonly TimestampFormat[];
const SCALAR_KINDS = ['null', 'boolean', 'int', 'long', 'double', 'string'] as const;
const NODES = ['all', 'any', 'not', 'pred', 'pred_as', 'present', 'absent', 'header', 'text', 'header_text'] as const;

const DOCUMENT_MEMBERS = [
  'v',
  'evaluator_version',
  'expr',
  'codec',
  'fault_policy',
  'foreign_policy',
  'mismatch_policy',
  'schema_refs',
];
const U32_MAX = 2n ** 32n - 1n;
const INTEGER_RANGES = {
  int: { least: -(2n ** 31n), most: 2n ** 31n - 1n },
  long: { least: -(2n ** 63n), most: 2n ** 63n - 1n },
} as const;

/** Reads the whole document. Versions come first, so that a document of a later version is told so (`version_skew`). */
export function parseLaser(reader: FilterReader): LaserFilter {
  const spot = { json: reader.document.root, pointer: '' };
  const members = reader.members(spot, 'the filter', DOCUMENT_MEMBERS);
  readVersion(reader, members, 'v', LASER_VERSION);
  readVersion(reader, members, 'evaluator_version', LASER_EVALUATOR_VERSION);
  const expr = readNode(reader, members.required('expr'));
  const refs = members.optional('schema_refs');
  return {
    expr,
    codec: members.word('codec', CODECS),
    codecSpot: members.required('codec'),
    faultPolicy: members.wordOr('fault_policy', FAULT_POLICIES, 'stop'),
    foreignPolicy: members.wordOr('foreign_policy', RECORD_POLICIES, 'reject'),
    mismatchPolicy: members.wordOr('mismatch_policy', RECORD_POLICIES, 'reject'),
    schemaRefs: refs === undefined ? [] : readSchemaRefs(reader, refs),
    schemaRefsSpot: refs ?? { json: spot.json, pointer: '/schema_refs' },
  };
}

function readVersion(reader: FilterReader, members: Members, name: string, supported: number): void {
  const spot = members.required(name);
  const { json } = spot;
  if (json.kind !== 'number' || !json.isInteger) {
    reader.refuse(spot, `Expected \`${name}\` as an integer.`);
  }
  if (reader.document.integerOf(json) !== BigInt(supported)) {
    const given = shown(reader.document.sourceOf(json));
    reader.refuse(
      spot,
      `\`${name}\` is ${given}; this service reads ${supported}.`,
      { limit: supported, given },
      'version_skew',
    );
  }
}

function readSchemaRefs(reader: FilterReader, spot: Spot): number[] {
  const refs: number[] = [];
  for (const item of readList(reader, spot, '`schema_refs`')) {
    const { json } = item;
    const id = json.kind === 'number' ? reader.document.integerOf(json) : undefined;
    if (id === undefined || id < 0n || id > U32_MAX) {
      reader.refuse(item, `A schema id is an integer from 0 to ${U32_MAX}.`, {
        limit: Number(U32_MAX),
        given: shown(reader.document.sourceOf(json)),
      });
    }
    const previous = refs.at(-1);
    if (previous !== undefined && Number(id) <= previous) {
      reader.refuse(item, '`schema_refs` must be in ascending order, each id once.');
    }
    refs.push(Number(id));
  }
  return refs;
}

function readNode(reader: FilterReader, spot: Spot): LaserNode {
  const { json } = spot;
  if (json.kind !== 'object') return reader.refuse(spot, `Expected a node as an object, not ${nameOfKind(json)}.`);
  const [member] = json.members;
  if (member === undefined || json.members.length > 1) {
    const given = json.members.length;
    return reader.refuse(spot, `A node has exactly one key; this one has ${given}.`, { limit: 1, given });
  }
  const kind = NODES.find((name) => name === member.key.value);
  if (kind === undefined) {
    const unknown = `Unknown node \`${shown(member.key.value)}\`; it must be one of ${NODES.join(', ')}.`;
    return reader.refuse({ json: member.key, pointer: spot.pointer }, unknown);
  }
  const body = { json: member.value, pointer: `${spot.pointer}/${kind}` };
  switch (kind) {
    case 'all':
    case 'any': {
      const children = readList(reader, body, `the children of \`${kind}\``);
      if (children.length === 0) reader.refuse(body, `\`${kind}\` needs at least one child.`, { limit: 1, given: 0 });
      return { node: kind, spot, children: children.map((child) => readNode(reader, child)) };
    }
    case 'not':
      return { node: kind, spot, child: readNode(reader, body) };
    case 'pred':
      return { node: kind, spot, ...readPredicate(reader, body) };
    case 'pred_as': {
      const members = reader.members(body, '`pred_as`', ['pred', 'coerce']);
      const predicate = readPredicate(reader, members.required('pred'));
      return { node: kind, spot, ...predicate, coercion: readCoercion(reader, members.required('coerce')) };
    }
    case 'present':
    case 'absent':
      return { node: kind, spot, field: readPath(reader, body, `the path of \`${kind}\``) };
    case 'header': {
      const members = reader.members(body, '`header`', ['key', 'op', 'value']);
      const key = readHeaderKey(reader, members.required('key'));
      return { node: kind, spot, key, comparison: readComparison(reader, members) };
    }
    case 'text': {
      const members = reader.members(body, '`text`', ['field', 'kind', 'pattern', 'case_insensitive']);
      const field = readPath(reader, members.required('field'), '`field`');
      return { node: kind, spot, field, match: readTextMatch(reader, members) };
    }
    case 'header_text': {
      const members = reader.members(body, '`header_text`', ['field', 'kind', 'pattern', 'case_insensitive']);
      const key = readHeaderKey(reader, members.required('field'));
      return { node: kind, spot, key, match: readTextMatch(reader, members) };
    }
  }
}

function readPredicate(reader: FilterReader, spot: Spot): { field: PathRef; comparison: Comparison } {
  const members = reader.members(spot, '`pred`', ['field', 'op', 'value']);
  const field = readPath(reader, members.required('field'), '`field`');
  return { field, comparison: readComparison(reader, members) };
}

function readComparison(reader: FilterReader, members: Members): Comparison {
  return {
    op: members.word('op', OPS),
    opSpot: members.required('op'),
    value: readLiteral(reader, members.required('value')),
  };
}

function readTextMatch(reader: FilterReader, members: Members): TextMatch {
  const kind = members.word('kind', TEXT_KINDS);
  const pattern = members.text('pattern');
  const flag = members.optional('case_insensitive');
  if (flag !== undefined && flag.json.kind !== 'boolean') {
    reader.refuse(flag, `Expected \`case_insensitive\` as a boolean, not ${nameOfKind(flag.json)}.`);
  }
  return {
    kind,
    pattern: pattern.value,
    patternSpot: pattern.spot,
    caseInsensitive: flag?.json.kind === 'boolean' && flag.json.value,
  };
}

function readCoercion(reader: FilterReader, spot: Spot): Coercion {
  const members = reader.members(spot, '`coerce`', kindIn(spot) === 'timestamp' ? ['kind', 'format'] : ['kind']);
  const kind = members.word('kind', ['number', 'timestamp']);
  return kind === 'number' ? { kind } : { kind, format: members.word('format', FORMATS) };
}

function readLiteral(reader: FilterReader, spot: Spot): Literal {
  if (kindIn(spot) !== 'list') return readScalar(reader, spot);
  const value = reader.members(spot, 'a literal', ['kind', 'value']).required('value');
  const items = readList(reader, value, 'the value of a `list` literal');
  return { kind: 'list', spot, items: items.map((item) => readScalar(reader, item)) };
}

function readScalar(reader: FilterReader, spot: Spot): ScalarLiteral {
  const members = reader.members(spot, 'a literal', kindIn(spot) === 'null' ? ['kind'] : ['kind', 'value']);
  const kind = members.word('kind', SCALAR_KINDS);
  if (kind === 'null') {
    const value = members.optional('value');
    if (value !== undefined && value.json.kind !== 'null') reader.refuse(value, 'A null literal has no value.');
    return { kind, spot };
  }
  const value = members.required('value');
  const { json } = value;
  switch (kind) {
    case 'boolean':
      if (json.kind !== 'boolean') return refuseType(reader, value, kind);
      return { kind, spot, value: json.value };
    case 'int':
    case 'long': {
      if (json.kind !== 'number' || !json.isInteger) return refuseType(reader, value, kind);
      const { least, most } = INTEGER_RANGES[kind];
      const integer = reader.document.integerOf(json);
      if (integer === undefined || integer < least || integer > most) {
        const given = shown(reader.document.sourceOf(json));
        const limit = given.startsWith('-') ? least : most;
        return reader.refuse(value, `The literal ${given} is beyond \`${kind}\`, whose limit is ${limit}.`, {
          limit: String(limit),
          given,
        });
      }
      return { kind, spot, value: integer };
    }
    case 'double': {
      if (json.kind !== 'number') return refuseType(reader, value, kind);
      const double = reader.document.doubleOf(json);
      if (!Number.isFinite(double)) {
        return reader.refuse(value, 'A double literal must be finite.', {
          limit: String(Number.MAX_VALUE),
          given: shown(reader.document.sourceOf(json)),
        });
      }
      return { kind, spot, value: double };
    }
    case 'string': {
      const text = textAt(reader, value, 'The value of a `string` literal');
      refuseLonger(reader, value, 'A string literal', text, LITERAL_BYTES_MAX);
      return { kind, spot, value: text };
    }
  }
}

/** What an object calls itself, before its members are checked: which members are known depends on it. */
function kindIn(spot: Spot): string | undefined {
  if (spot.json.kind !== 'object') return undefined;
  const kind = spot.json.members.find(({ key }) => key.value === 'kind')?.value;
  return kind?.kind === 'string' ? kind.value : undefined;
}

function refuseType(reader: FilterReader, spot: Spot, kind: 'boolean' | 'int' | 'long' | 'double'): never {
  const wanted = { boolean: 'a boolean', int: 'an integer', long: 'an integer', double: 'a number' }[kind];
  const { json } = spot;
  const given = json.kind === 'number' ? shown(reader.document.sourceOf(json)) : nameOfKind(json);
  return reader.refuse(spot, `Expected the value of a \`${kind}\` literal as ${wanted}, not ${given}.`);
}

function readPath(reader: FilterReader, spot: Spot, what: string): PathRef {
  const text = textAt(reader, spot, what);
  return { text, path: parsePath(text, (index, detail, more) => reader.refuseInside(spot, index, detail, more)) };
}

function readHeaderKey(reader: FilterReader, spot: Spot): string {
  const key = textAt(reader, spot, 'a header key');
  if (key === '') reader.refuse(spot, 'A header key must not be empty.', { limit: 1, given: 0 });
  refuseLonger(reader, spot, 'A header key', key, FILTER_HEADER_KEY_BYTES_MAX);
  return key;
}

function refuseLonger(reader: FilterReader, spot: Spot, what: string, text: string, limit: number): void {
  const given = Buffer.byteLength(text);
  if (given > limit)
    reader.refuse(spot, `${what} has at most ${limit} bytes; this one has ${given}.`, { limit, given });
}

function readList(reader: FilterReader, spot: Spot, what: string): Spot[] {
  const { json } = spot;
  if (json.kind !== 'array') return reader.refuse(spot, `Expected ${what} as a list, not ${nameOfKind(json)}.`);
  return json.items.map((item, index) => ({ json: item, pointer: `${spot.pointer}/${index}` }));
}
