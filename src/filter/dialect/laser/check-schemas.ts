/**
 * A filter against the writer schemas that it refers to (contract: scan-protocol §3 "Nothing widens", laser-filter §5):
 * ids that stand for nothing, paths at which nothing can ever stand, literals of a type that never stands there.
 *
 * A path that is impossible under every schema of the filter is a slip and refused, with the key that was probably
 * meant. Two things are legal and only warned of: a leaf that asks for the absence itself (`absent`, `eq` null), and
 * anything that holds under some of the schemas. Invariant: warnings change nothing.
 */
import type { PathShape, ShapeType } from '../../../codec/schema-shape.js';
import type { FilterWarning } from '../../compiled-filter.js';
import type { Leaf } from '../../ir.js';
import type { KnownSchema, KnownSchemas } from '../../known-schemas.js';
import { kindsCompared, kindsMatched, matchesMissing, VALUE_KINDS } from '../../leaf-overlap.js';
import { nearestWord } from '../../nearest-word.js';
import { pathText } from '../../paths.js';
import { lowerNode, scalarOf } from './lower.js';
import { type FilterReader, shown } from './members.js';
import type { LaserFilter, LaserNode, PathRef, ScalarLiteral, Spot } from './tree.js';

/** Keys named in a refusal where none is near. */
const CANDIDATES_SHOWN = 8;

/**
 * Refuses what can never be meant, at the id or inside the path. Warns of the rest, if `warns`: otherwise no more
 * schemas are asked than it takes to refuse.
 */
export function checkSchemas(
  reader: FilterReader,
  filter: LaserFilter,
  known: KnownSchemas,
  warns: boolean,
): readonly FilterWarning[] {
  const warnings: FilterWarning[] = [];
  const schemas: PlacedSchema[] = [];
  filter.schemaRefs.forEach((id, index) => {
    const spot = itemOf(filter.schemaRefsSpot, index);
    const schema = known.find(id);
    if (schema === undefined) {
      const detail = `There is no schema with the id ${id}, neither in the request nor in the registry.`;
      if (!known.mayLack) reader.refuse(spot, detail, { given: id });
      warnings.push({ pointer: spot.pointer, reason: 'unknown_schema', hint: `${detail} A scan refuses this filter.` });
    } else if (schema.family === filter.codec) {
      schemas.push({ id, schema });
    } else {
      const hint = `Schema ${id} is of codec \`${schema.family}\`: records written with it are foreign to this filter.`;
      warnings.push({ pointer: spot.pointer, reason: 'schema_of_other_codec', hint });
    }
  });
  // Where an id stands for nothing known, what it stands for may have every path.
  const isWhole = filter.schemaRefs.every((id) => known.find(id) !== undefined);
  if (schemas.length > 0) new SchemaCheck(reader, schemas, isWhole, warns ? warnings : undefined).visit(filter.expr);
  return warns ? warnings : [];
}

interface PlacedSchema {
  readonly id: number;
  readonly schema: KnownSchema;
}

interface Missing {
  readonly id: number;
  readonly shape: PathShape & { readonly kind: 'closed-missing' };
}

type PayloadNode = LaserNode & { readonly node: 'pred' | 'pred_as' | 'present' | 'absent' | 'text' };

class SchemaCheck {
  private readonly reader: FilterReader;
  private readonly schemas: readonly PlacedSchema[];
  private readonly isWhole: boolean;
  private readonly warnings: FilterWarning[] | undefined;

  constructor(
    reader: FilterReader,
    schemas: readonly PlacedSchema[],
    isWhole: boolean,
    warnings: FilterWarning[] | undefined,
  ) {
    this.reader = reader;
    this.schemas = schemas;
    this.isWhole = isWhole;
    this.warnings = warnings;
  }

  /** The filter's depth is bounded, so this recursion is. */
  visit(node: LaserNode): void {
    switch (node.node) {
      case 'all':
      case 'any':
        for (const child of node.children) this.visit(child);
        return;
      case 'not':
        this.visit(node.child);
        return;
      case 'header':
      case 'header_text':
        return;
      default:
        this.visitLeaf(node);
    }
  }

  private visitLeaf(node: PayloadNode): void {
    const { field } = node;
    const missing: Missing[] = [];
    let kinds = 0;
    for (const { id, schema } of this.schemas) {
      const shape = schema.describe(field.path);
      if (shape.kind === 'closed-missing') missing.push({ id, shape });
      else {
        if (this.warnings === undefined) return;
        kinds |= shape.kind === 'open' ? VALUE_KINDS.all : kindsOf(shape.types);
      }
    }
    if (missing.length > 0) this.meetMissing(node, missing);
    if (kinds !== 0 && this.isWhole) this.warnOfTypes(node, kinds);
  }

  private meetMissing(node: PayloadNode, missing: readonly Missing[]): void {
    const { field } = node;
    const spot = pathSpotOf(node);
    const isImpossible = this.isWhole && missing.length === this.schemas.length;
    // The schema that has most of the path says best what was meant.
    const best = missing.reduce((one, other) => (other.shape.step > one.shape.step ? other : one));
    const detail = missingDetail(field, best);
    if (isImpossible && !matchesMissing(lowerNode(node) as Leaf)) {
      this.reader.refuseInside(spot, stepStart(field, best.shape.step), detail);
    }
    const rest = isImpossible
      ? 'It is missing in every record.'
      : `It is missing in records of ${idsText(missing.map(({ id }) => id))}.`;
    this.warnings?.push({ pointer: spot.pointer, reason: 'path_not_in_schema', hint: `${detail} ${rest}` });
  }

  private warnOfTypes(node: PayloadNode, kinds: number): void {
    if (node.node === 'present' || node.node === 'absent') return;
    const leaf = lowerNode(node) as Leaf;
    const standing = `What stands at \`${shown(node.field.text)}\` is ${kindsText(kinds)}`;
    if (node.node !== 'pred' || leaf.node !== 'compare') {
      if ((kindsMatched(leaf) & kinds) === 0) {
        this.warn(node.spot, `${standing}, which this never matches.`);
      }
      return;
    }
    for (const literal of literalsOf(node.comparison.value)) {
      if (literal.kind === 'null' || (kindsCompared(leaf, scalarOf(literal)) & kinds) !== 0) continue;
      this.warn(literal.spot, `${standing}, which never compares with a literal of kind \`${literal.kind}\`.`);
    }
  }

  private warn({ pointer }: Spot, hint: string): void {
    this.warnings?.push({ pointer, reason: 'type_never_compares', hint });
  }
}

function literalsOf(value: (LaserNode & { readonly node: 'pred' })['comparison']['value']): readonly ScalarLiteral[] {
  return value.kind === 'list' ? value.items : [value];
}

function missingDetail({ path }: PathRef, { id, shape: { step, candidates } }: Missing): string {
  const wanted = path[step]!;
  const before = step === 0 ? 'the payload' : `\`${shown(pathText(path.slice(0, step)))}\``;
  if (typeof wanted === 'number') return `By schema ${id}, ${before} is no array, so it has no element [${wanted}].`;
  if (candidates.length === 0) return `By schema ${id}, ${before} has no keys, so it has no \`${shown(wanted)}\`.`;
  const nearest = nearestWord(wanted, candidates);
  const meant =
    nearest !== undefined
      ? `did you mean \`${shown(nearest)}\`?`
      : `it has ${candidates
          .slice(0, CANDIDATES_SHOWN)
          .map((key) => `\`${shown(key)}\``)
          .join(', ')}` +
        `${candidates.length > CANDIDATES_SHOWN ? ` and ${candidates.length - CANDIDATES_SHOWN} more` : ''}.`;
  return `By schema ${id}, ${before} has no \`${shown(wanted)}\`; ${meant}`;
}

/** Where a step begins in the text of a path, as a UTF-16 index. */
function stepStart({ path }: PathRef, step: number): number {
  const before = pathText(path.slice(0, step)).length;
  return typeof path[step] === 'string' && before > 0 ? before + 1 : before;
}

/** The text of a leaf's path: the node's one member is the leaf, or its path itself. */
function pathSpotOf(node: PayloadNode): Spot {
  const steps = {
    present: ['present'],
    absent: ['absent'],
    pred: ['pred', 'field'],
    pred_as: ['pred_as', 'pred', 'field'],
    text: ['text', 'field'],
  }[node.node];
  return steps.reduce(memberOf, node.spot);
}

function memberOf({ json, pointer }: Spot, name: string): Spot {
  const member = json.kind === 'object' ? json.members.find(({ key }) => key.value === name) : undefined;
  if (member === undefined) throw new Error(`a parsed node without its member ${name}`);
  return { json: member.value, pointer: `${pointer}/${name}` };
}

function itemOf({ json, pointer }: Spot, index: number): Spot {
  const item = json.kind === 'array' ? json.items[index] : undefined;
  if (item === undefined) throw new Error('a parsed list without its item');
  return { json: item, pointer: `${pointer}/${index}` };
}

const KIND_OF_TYPE: Readonly<Record<ShapeType, number>> = {
  null: VALUE_KINDS.null,
  bool: VALUE_KINDS.boolean,
  integer: VALUE_KINDS.number,
  double: VALUE_KINDS.number,
  string: VALUE_KINDS.text,
  array: VALUE_KINDS.array,
  object: VALUE_KINDS.object,
};

function kindsOf(types: ReadonlySet<ShapeType>): number {
  let kinds = 0;
  for (const type of types) kinds |= KIND_OF_TYPE[type];
  return kinds;
}

function kindsText(kinds: number): string {
  const names = {
    null: 'null',
    boolean: 'a boolean',
    number: 'a number',
    text: 'text',
    array: 'an array',
    object: 'an object',
  } as const;
  const there = Object.entries(names).filter(([name]) => (kinds & VALUE_KINDS[name as keyof typeof names]) !== 0);
  return there.map(([, text]) => text).join(' or ');
}

function idsText(ids: readonly number[]): string {
  const few = ids.slice(0, CANDIDATES_SHOWN).join(', ');
  return `schema${ids.length === 1 ? '' : 's'} ${few}${ids.length > CANDIDATES_SHOWN ? ', …' : ''}`;
}
