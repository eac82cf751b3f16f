/**
 * An Avro schema from its JSON text to a tree of types (Avro specification, "Schema Declaration"; contract: laser-filter
 * §5).
 *
 * Names are resolved as the specification says: a name without a dot stands in the namespace around it, and has to be
 * defined before it is used. What says nothing of the bytes of a datum is not looked at: aliases, defaults, orders, docs,
 * logical types, unknown attributes. A type may be wrapped, `{"type": {"type": "int"}}`.
 *
 * Invariants: types are shared by reference, so a named type that contains itself is a cycle in the tree; a union holds
 * no union and no two branches that would be told apart by nothing; recursion is bounded by the levels of a schema.
 */
import { type JsonDocument, readJson } from '../../core/exact-json.js';
import type { JsonArray, JsonNode, JsonObject, JsonString } from '../../core/json-node.js';
import { pointerToken } from '../../core/json-pointer.js';
import { refuse } from '../../core/error-codes.js';
import { SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX } from '../../core/limits.js';
import type { ProblemExtras } from '../../core/text-place.js';

const PRIMITIVES = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'] as const;

export interface AvroPrimitive {
  readonly kind: (typeof PRIMITIVES)[number];
}

/** A run of bytes of one length; `size` is 0…2^53−1. */
export interface AvroFixed {
  readonly kind: 'fixed';
  readonly name: string;
  readonly size: number;
}

/** Its symbols are all different; there may be none. */
export interface AvroEnum {
  readonly kind: 'enum';
  readonly name: string;
  readonly symbols: readonly string[];
}

export interface AvroArray {
  readonly kind: 'array';
  readonly items: AvroType;
}

export interface AvroMap {
  readonly kind: 'map';
  readonly values: AvroType;
}

/** None of its branches is a union; there may be none. */
export interface AvroUnion {
  readonly kind: 'union';
  readonly branches: readonly AvroType[];
}

export interface AvroField {
  readonly name: string;
  readonly type: AvroType;
}

/** Its fields have different names, in the order in which a datum holds them. */
export interface AvroRecord {
  readonly kind: 'record';
  /** Full name. */
  readonly name: string;
  readonly fields: readonly AvroField[];
}

type AvroNamed = AvroFixed | AvroEnum | AvroRecord;
export type AvroType = AvroPrimitive | AvroNamed | AvroArray | AvroMap | AvroUnion;

/** A compiled writer schema. */
export interface AvroSchema {
  readonly family: 'avro';
  readonly root: AvroType;
}

/**
 * Reads a schema. Throws a `Refusal` `invalid_request` whose `field` is the JSON pointer of the fault within the text
 * and whose `position` is its byte; `limit` and `given` say which bound was passed.
 */
export function compileAvro(text: string): AvroSchema {
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes > SCHEMA_BYTES_MAX) {
    refuse('invalid_request', `An Avro schema has at most ${SCHEMA_BYTES_MAX} bytes; this one has ${bytes}.`, {
      field: '',
      limit: SCHEMA_BYTES_MAX,
      given: bytes,
    });
  }
  const document = readJson(text);
  return { family: 'avro', root: new SchemaReader(document).read(document.root) };
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FULL_NAME = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;
/** Characters of a wrong name that a refusal repeats. */
const SHOWN_MAX = 64;

/** Where in the schema a type is read. */
interface Around {
  /** JSON pointer of the node. */
  readonly pointer: string;
  /** Namespace of the definition around it; empty for none. */
  readonly namespace: string;
  /** Types around it. */
  readonly level: number;
}

class SchemaReader {
  private readonly document: JsonDocument;
  private readonly primitives = new Map<string, AvroPrimitive>(PRIMITIVES.map((kind) => [kind, { kind }]));
  private readonly named = new Map<string, AvroNamed>();

  constructor(document: JsonDocument) {
    this.document = document;
  }

  read(root: JsonNode): AvroType {
    return this.type(root, { pointer: '', namespace: '', level: 0 });
  }

  private type(node: JsonNode, around: Around): AvroType {
    if (around.level > SCHEMA_DEPTH_MAX) {
      this.fail(node, around.pointer, `A schema nests at most ${SCHEMA_DEPTH_MAX} levels.`, {
        limit: SCHEMA_DEPTH_MAX,
        given: around.level,
      });
    }
    switch (node.kind) {
      case 'string':
        return this.reference(node, around);
      case 'array':
        return this.union(node, around);
      case 'object':
        return this.definition(node, around);
      default:
        return this.fail(node, around.pointer, 'A schema is a type name, an object or an array of schemas.', {
          given: node.kind,
        });
    }
  }

  private reference(node: JsonString, { pointer, namespace }: Around): AvroType {
    const name = node.value;
    const primitive = this.primitives.get(name);
    if (primitive !== undefined) return primitive;
    const fullName = name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;
    const found = this.named.get(fullName);
    if (found !== undefined) return found;
    const meant = fullName === name ? quoted(name) : `${quoted(name)}, which means ${quoted(fullName)} here`;
    return this.fail(node, pointer, `Unknown type ${meant}. A name has to be defined before it is used.`, {
      given: shown(name),
    });
  }

  private union(node: JsonArray, around: Around): AvroUnion {
    const branches: AvroType[] = [];
    const seen = new Set<string>();
    for (const [index, item] of node.items.entries()) {
      const inner = inside(around, String(index));
      const branch = this.type(item, inner);
      if (branch.kind === 'union') this.fail(item, inner.pointer, 'A union holds no union.', { given: 'union' });
      const what = 'name' in branch ? branch.name : branch.kind;
      if (seen.has(what)) this.fail(item, inner.pointer, `The union has ${quoted(what)} already.`, { given: what });
      seen.add(what);
      branches.push(branch);
    }
    return { kind: 'union', branches };
  }

  private definition(node: JsonObject, around: Around): AvroType {
    const type = this.attribute(node, 'type', around.pointer);
    const inner = inside(around, 'type');
    if (type.kind !== 'string') return this.type(type, inner);
    switch (type.value) {
      case 'record':
        return this.record(node, around);
      case 'enum':
        return this.enumeration(node, around);
      case 'fixed':
        return this.fixed(node, around);
      case 'array':
        return {
          kind: 'array',
          items: this.type(this.attribute(node, 'items', around.pointer), inside(around, 'items')),
        };
      case 'map':
        return {
          kind: 'map',
          values: this.type(this.attribute(node, 'values', around.pointer), inside(around, 'values')),
        };
      default:
        return this.reference(type, inner);
    }
  }

  private record(node: JsonObject, around: Around): AvroRecord {
    const { name, namespace } = this.newName(node, around);
    const fields: AvroField[] = [];
    const record: AvroRecord = { kind: 'record', name, fields };
    // Before its fields are read, since they may name it.
    this.named.set(name, record);
    const { items, pointer } = this.list(node, 'fields', around.pointer);
    const seen = new Set<string>();
    for (const [index, item] of items.entries()) {
      const at = `${pointer}/${index}`;
      if (item.kind !== 'object') this.fail(item, at, 'A field is an object.', { given: item.kind });
      const fieldName = this.plainName(this.attribute(item, 'name', at), `${at}/name`, 'The name of a field', seen);
      const type = this.type(this.attribute(item, 'type', at), {
        pointer: `${at}/type`,
        namespace,
        level: around.level + 1,
      });
      fields.push({ name: fieldName, type });
    }
    return record;
  }

  private enumeration(node: JsonObject, around: Around): AvroEnum {
    const { name } = this.newName(node, around);
    const { items, pointer } = this.list(node, 'symbols', around.pointer);
    const seen = new Set<string>();
    const symbols = items.map((item, index) => this.plainName(item, `${pointer}/${index}`, 'A symbol', seen));
    const type: AvroEnum = { kind: 'enum', name, symbols };
    this.named.set(name, type);
    return type;
  }

  private fixed(node: JsonObject, around: Around): AvroFixed {
    const { name } = this.newName(node, around);
    const size = this.attribute(node, 'size', around.pointer);
    const value = size.kind === 'number' && size.isInteger ? this.document.doubleOf(size) : -1;
    if (!Number.isSafeInteger(value) || value < 0) {
      this.fail(size, `${around.pointer}/size`, 'The size of a fixed is a whole number of bytes, 0 or more.', {
        given: shown(this.document.sourceOf(size)),
      });
    }
    const type: AvroFixed = { kind: 'fixed', name, size: value };
    this.named.set(name, type);
    return type;
  }

  /** The full name of the type that `node` defines, and the namespace that names inside it stand in. */
  private newName(node: JsonObject, { pointer, namespace: outer }: Around): { name: string; namespace: string } {
    const given = this.text(this.attribute(node, 'name', pointer), `${pointer}/name`, 'The name of a type');
    if (!FULL_NAME.test(given.value)) this.failName(given, `${pointer}/name`, 'The name of a type');
    const lastDot = given.value.lastIndexOf('.');
    let namespace = lastDot < 0 ? outer : given.value.slice(0, lastDot);
    const attribute = this.optional(node, 'namespace', pointer);
    if (attribute !== undefined) {
      const own = this.text(attribute, `${pointer}/namespace`, 'A namespace');
      if (own.value !== '' && !FULL_NAME.test(own.value)) this.failName(own, `${pointer}/namespace`, 'A namespace');
      if (lastDot < 0) namespace = own.value;
    }
    const simple = given.value.slice(lastDot + 1);
    if (this.primitives.has(simple)) {
      this.fail(given, `${pointer}/name`, `${quoted(simple)} is a primitive type and cannot be defined.`, {
        given: given.value,
      });
    }
    const name = namespace === '' ? simple : `${namespace}.${simple}`;
    if (this.named.has(name)) {
      this.fail(given, `${pointer}/name`, `${quoted(name)} is defined already.`, { given: shown(name) });
    }
    return { name, namespace };
  }

  /** The text of a name without dots that is not among those `seen`, to which it is added. */
  private plainName(node: JsonNode, pointer: string, what: string, seen: Set<string>): string {
    const name = this.text(node, pointer, what);
    if (!NAME.test(name.value)) this.failName(name, pointer, what);
    if (seen.has(name.value)) {
      this.fail(node, pointer, `${what} is given once; ${quoted(name.value)} stands here again.`, {
        given: shown(name.value),
      });
    }
    seen.add(name.value);
    return name.value;
  }

  private text(node: JsonNode, pointer: string, what: string): JsonString {
    return node.kind === 'string' ? node : this.fail(node, pointer, `${what} is a text.`, { given: node.kind });
  }

  private list(node: JsonObject, key: string, around: string): { items: readonly JsonNode[]; pointer: string } {
    const pointer = `${around}/${key}`;
    const value = this.attribute(node, key, around);
    if (value.kind !== 'array') this.fail(value, pointer, `"${key}" is an array.`, { given: value.kind });
    return { items: value.items, pointer };
  }

  private attribute(node: JsonObject, key: string, pointer: string): JsonNode {
    return this.optional(node, key, pointer) ?? this.fail(node, pointer, `"${key}" is missing.`);
  }

  private optional(node: JsonObject, key: string, pointer: string): JsonNode | undefined {
    let found: JsonNode | undefined;
    for (const member of node.members) {
      if (member.key.value !== key) continue;
      if (found !== undefined) this.fail(member.key, `${pointer}/${pointerToken(key)}`, `"${key}" is given twice.`);
      found = member.value;
    }
    return found;
  }

  private failName(node: JsonString, pointer: string, what: string): never {
    return this.fail(
      node,
      pointer,
      `${what} begins with a letter or an underscore and goes on with letters, digits and underscores.`,
      { given: shown(node.value) },
    );
  }

  private fail(node: JsonNode, pointer: string, detail: string, more: ProblemExtras = {}): never {
    return this.document.refuseAt(node.start, 'invalid_request', `Invalid Avro schema at "${pointer}". ${detail}`, {
      field: pointer,
      ...more,
    });
  }
}

function inside(around: Around, token: string): Around {
  return { pointer: `${around.pointer}/${token}`, namespace: around.namespace, level: around.level + 1 };
}

function shown(name: string): string {
  return name.length > SHOWN_MAX ? `${name.slice(0, SHOWN_MAX)}…` : name;
}

function quoted(name: string): string {
  return JSON.stringify(shown(name));
}
