/**
 * What a `laser` filter must obey beyond its shape: the bounds on the whole and the rules between parts (contract:
 * laser-filter §1 "Limits", "Validation beyond limits").
 *
 * Not here: the bound on the canonical text (`compile` measures it on what `canonical` writes) and whether a regex
 * compiles (the engine says). Invariant: each refusal names the node, the limit and what was measured against it.
 */
import {
  COMPILED_PATTERNS_MAX,
  FILTER_DEPTH_MAX,
  FILTER_NODES_MAX,
  IN_ITEMS_MAX,
  PATTERN_BYTES_MAX,
  REGEX_PROGRAM_BYTES_MAX,
} from '../../../core/limits.js';
import { literalCoerces } from '../../coerce.js';
import { regexProgramBytes } from '../../pattern-size.js';
import { scalarOf } from './lower.js';
import type { FilterReader } from './members.js';
import type { Comparison, LaserFilter, LaserNode, ListLiteral, Literal, ScalarLiteral, TextMatch } from './tree.js';

/** Refuses the filter where it breaks a rule; in written order, so the first fault is the one reported. */
export function validateLaser(reader: FilterReader, filter: LaserFilter): void {
  new Validation(reader, filter.codec === 'headers_only').visit(filter.expr, 1);
  validateSchemaRefs(reader, filter);
}

function validateSchemaRefs(reader: FilterReader, filter: LaserFilter): void {
  const needsSchemas = filter.codec === 'avro' || filter.codec === 'protobuf';
  if (needsSchemas && filter.schemaRefs.length === 0) {
    reader.refuse(filter.schemaRefsSpot, `Codec \`${filter.codec}\` needs at least one schema id in \`schema_refs\`.`);
  }
  if (!needsSchemas && filter.schemaRefs.length > 0) {
    reader.refuse(filter.schemaRefsSpot, `Codec \`${filter.codec}\` takes no \`schema_refs\`.`);
  }
}

class Validation {
  private readonly reader: FilterReader;
  private readonly headersOnly: boolean;
  private nodes = 0;
  private compiledPatterns = 0;

  constructor(reader: FilterReader, headersOnly: boolean) {
    this.reader = reader;
    this.headersOnly = headersOnly;
  }

  /** `depth` of the root is 1. The depth is refused before the walk goes deeper, so its recursion is bounded. */
  visit(node: LaserNode, depth: number): void {
    if (depth > FILTER_DEPTH_MAX) {
      const detail = `A filter nests at most ${FILTER_DEPTH_MAX} levels; this node is on level ${depth}.`;
      this.reader.refuse(node.spot, detail, { limit: FILTER_DEPTH_MAX, given: depth });
    }
    this.countNodes(1, node);
    switch (node.node) {
      case 'all':
      case 'any':
        for (const child of node.children) this.visit(child, depth + 1);
        return;
      case 'not':
        this.visit(node.child, depth + 1);
        return;
      case 'header':
        if (node.comparison.value.kind === 'null') {
          this.reader.refuse(node.comparison.value.spot, 'A header is never compared with a null literal.');
        }
        this.visitComparison(node, node.comparison);
        return;
      case 'header_text':
        this.visitText(node.match);
        return;
      default:
        if (this.headersOnly) {
          this.reader.refuse(
            node.spot,
            `Codec \`headers_only\` reads no payload, so it allows no \`${node.node}\` node.`,
          );
        }
        if (node.node === 'text') this.visitText(node.match);
        else if (node.node === 'pred') this.visitComparison(node, node.comparison);
        else if (node.node === 'pred_as') this.visitCoerced(node);
    }
  }

  private visitComparison(node: LaserNode, { op, value }: Comparison): void {
    if (value.kind === 'null') {
      if (op !== 'eq' && op !== 'ne') this.refuseLiteral(value, `\`${op}\` takes no null literal; only eq and ne do.`);
      return;
    }
    const items = this.listFor(op, value);
    if (items !== undefined) {
      this.visitItems(node, items);
      return;
    }
    if (op === 'prefix' && value.kind !== 'string') this.refuseLiteral(value, '`prefix` needs a string literal.');
    if ((op === 'lt' || op === 'lte' || op === 'gt' || op === 'gte') && value.kind === 'boolean') {
      this.refuseLiteral(value, `\`${op}\` takes no boolean literal: booleans have no order.`);
    }
  }

  private visitCoerced(node: LaserNode & { readonly node: 'pred_as' }): void {
    const { coercion, comparison } = node;
    const { op, opSpot, value } = comparison;
    if (op === 'contains' || op === 'prefix') {
      this.reader.refuse(opSpot, `\`pred_as\` supports eq, ne, lt, lte, gt, gte and in, not \`${op}\`.`, { given: op });
    }
    const list = this.listFor(op, value);
    if (list !== undefined) this.visitItems(node, list);
    for (const literal of list?.items ?? [value]) {
      if (literal.kind === 'list' || !literalCoerces(scalarOf(literal), coercion)) {
        const wanted = coercion.kind === 'number' ? 'a decimal' : `an instant in the format ${coercion.format}`;
        this.refuseLiteral(literal, `This literal is not ${wanted}, so it cannot be compared under the coercion.`);
      }
    }
  }

  /** The list of an `in`; undefined for every other operator. A list with another operator is refused. */
  private listFor(op: Comparison['op'], value: Literal): ListLiteral | undefined {
    if (value.kind === 'list') {
      if (op !== 'in') this.refuseLiteral(value, `\`${op}\` takes no list literal; only in does.`);
      return value;
    }
    if (op === 'in') this.refuseLiteral(value, '`in` needs a list literal.');
    return undefined;
  }

  private visitItems(node: LaserNode, list: ListLiteral): void {
    const given = list.items.length;
    if (given === 0) this.refuseLiteral(list, 'The list of `in` needs at least one item.', { limit: 1, given });
    if (given > IN_ITEMS_MAX) {
      const detail = `The list of \`in\` has at most ${IN_ITEMS_MAX} items; this one has ${given}.`;
      this.refuseLiteral(list, detail, { limit: IN_ITEMS_MAX, given });
    }
    for (const item of list.items) {
      if (item.kind === 'null') this.refuseLiteral(item, 'The list of `in` holds no null.');
    }
    this.countNodes(given, node);
  }

  private visitText({ kind, pattern, patternSpot, caseInsensitive }: TextMatch): void {
    const given = Buffer.byteLength(pattern);
    if (given > PATTERN_BYTES_MAX) {
      const detail = `A pattern has at most ${PATTERN_BYTES_MAX} bytes; this one has ${given}.`;
      this.reader.refuse(patternSpot, detail, { limit: PATTERN_BYTES_MAX, given });
    }
    if (kind !== 'glob' && kind !== 'regex') return;
    this.compiledPatterns += 1;
    if (this.compiledPatterns > COMPILED_PATTERNS_MAX) {
      const detail = `A filter has at most ${COMPILED_PATTERNS_MAX} \`glob\` and \`regex\` patterns together.`;
      this.reader.refuse(patternSpot, detail, { limit: COMPILED_PATTERNS_MAX, given: this.compiledPatterns });
    }
    if (kind === 'glob') {
      if (endsInLoneBackslash(pattern)) {
        this.reader.refuseInside(patternSpot, pattern.length - 1, 'A glob must not end in a lone backslash.');
      }
      return;
    }
    const programBytes = regexProgramBytes(pattern, caseInsensitive, (index, detail, more) =>
      this.reader.refuseInside(patternSpot, index, detail, more),
    );
    if (programBytes > REGEX_PROGRAM_BYTES_MAX) {
      const detail = `The program of a regex has at most ${REGEX_PROGRAM_BYTES_MAX} bytes; this one has ${programBytes}.`;
      this.reader.refuse(patternSpot, detail, { limit: REGEX_PROGRAM_BYTES_MAX, given: programBytes });
    }
  }

  private countNodes(count: number, node: LaserNode): void {
    this.nodes += count;
    if (this.nodes > FILTER_NODES_MAX) {
      const detail = `A filter has at most ${FILTER_NODES_MAX} nodes, items of \`in\` counted; here it reaches ${this.nodes}.`;
      this.reader.refuse(node.spot, detail, { limit: FILTER_NODES_MAX, given: this.nodes });
    }
  }

  private refuseLiteral(
    literal: Literal | ScalarLiteral,
    detail: string,
    more: { limit?: number; given?: number } = {},
  ): never {
    return this.reader.refuse(literal.spot, detail, more);
  }
}

function endsInLoneBackslash(pattern: string): boolean {
  const trailing = pattern.length - pattern.replace(/\\+$/, '').length;
  return trailing % 2 === 1;
}
