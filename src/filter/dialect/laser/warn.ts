/**
 * What is legal in a filter but probably not meant, found on the validated tree with its positions (contract:
 * scan-protocol §2, `warnings`; reasons: `warning-reasons.ts`).
 *
 * The walk carries what must hold around a node: the leaves that have to match wherever the filter selects a record
 * (the conjuncts above and beside it), and the fields whose absence a neighbour in an `any` takes care of. Pointers
 * start at the filter document. Invariant: warnings are bounded by the nodes of the filter and change nothing.
 */
import type { FilterWarning } from '../../compiled-filter.js';
import { filterClass, isHeavyLeaf } from '../../cost.js';
import { type Leaf, readsPayload } from '../../ir.js';
import {
  ALL_KINDS,
  exclusionOf,
  isAlwaysDecided,
  KIND_NUMBER,
  KIND_TEXT,
  kindsMatched,
  matchesMissing,
} from '../../leaf-overlap.js';
import { pathText } from '../../paths.js';
import type { RegexEngine } from '../../regex.js';
import { nodeText } from './canonical.js';
import { lowerNode } from './lower.js';
import { shown } from './members.js';
import type { LaserFilter, LaserNode } from './tree.js';
import { type LeafNode, RESERVED_KEYS, warnOfLeaf } from './warn-leaf.js';

/** The warnings of a validated filter, in written order. `regex` compiles the patterns, which have been checked. */
export function warnLaser(filter: LaserFilter, regex: RegexEngine): readonly FilterWarning[] {
  const walk = new WarningWalk(regex, filterClass(lowerNode(filter.expr)) === 'heavy');
  if (filter.codec !== 'headers_only' && !readsPayload(lowerNode(filter.expr))) {
    walk.warnings.push({
      pointer: filter.codecSpot.pointer,
      reason: 'headers_only_possible',
      hint: `The filter reads only headers; codec \`headers_only\` says so, and no node that reads a payload slips in.`,
    });
  }
  walk.visit(filter.expr, { required: [], excused: new Set() });
  return walk.warnings;
}

/** A leaf of the tree beside its lowered form. */
interface PlacedLeaf {
  readonly pointer: string;
  readonly leaf: Leaf;
}

/** What holds around a node. */
interface Surroundings {
  /** Leaves that match in every record that the filter selects by way of this node. */
  readonly required: readonly PlacedLeaf[];
  /** Sources whose absence an alternative of this node selects. */
  readonly excused: ReadonlySet<string>;
}

type Group = LaserNode & { readonly node: 'all' | 'any' };

class WarningWalk {
  readonly warnings: FilterWarning[] = [];
  private readonly regex: RegexEngine;
  private readonly isHeavy: boolean;
  /** Header keys met so far, by their lower case. */
  private readonly keys = new Map<string, string>(RESERVED_KEYS.map((key) => [key.toLowerCase(), key]));

  constructor(regex: RegexEngine, isHeavy: boolean) {
    this.regex = regex;
    this.isHeavy = isHeavy;
  }

  visit(node: LaserNode, around: Surroundings): void {
    switch (node.node) {
      case 'all':
      case 'any':
        this.visitGroup(node, around);
        return;
      case 'not':
        this.visitNot(node, around);
        return;
      default:
        this.visitLeaf(node, around);
    }
  }

  private warn(pointer: string, reason: FilterWarning['reason'], hint: string): void {
    this.warnings.push({ pointer, reason, hint });
  }

  private visitGroup(group: Group, around: Surroundings): void {
    const { children } = group;
    if (children.length === 1) {
      this.warn(group.spot.pointer, 'redundant_group', `An \`${group.node}\` of one child says what the child says.`);
    }
    this.warnOfRepeats(group);
    if (group.node === 'any') this.warnOfAlways(group);
    else this.warnOfHeavyFirst(group);
    const excused = group.node === 'any' ? withExcused(around.excused, children) : around.excused;
    // A leaf is seen against those before it, a group against all that stand beside it.
    const beside = group.node === 'all' ? children.filter(isLeaf).map(placed) : [];
    let before = 0;
    for (const child of children) {
      if (child.node === group.node) {
        const hint = `Its children can stand in the \`${group.node}\` around it.`;
        this.warn(child.spot.pointer, 'redundant_group', hint);
      }
      const required = [...around.required, ...beside.slice(0, isLeaf(child) ? before : beside.length)];
      this.visit(child, { required, excused });
      if (isLeaf(child)) before += 1;
    }
  }

  private warnOfRepeats(group: Group): void {
    const seen = new Map<string, string>();
    for (const child of group.children) {
      const text = nodeText(child);
      const earlier = seen.get(text);
      if (earlier === undefined) seen.set(text, child.spot.pointer);
      else this.warn(child.spot.pointer, 'duplicate_child', `It says what ${earlier} says.`);
    }
    if (group.node !== 'all') return;
    for (const child of group.children) {
      const denied = child.node === 'not' ? seen.get(nodeText(child.child)) : undefined;
      if (denied !== undefined) this.warn(child.spot.pointer, 'never_true', `It denies what ${denied} demands.`);
    }
  }

  /** Alternatives that are never unknown and leave no kind of value out. */
  private warnOfAlways(group: Group): void {
    const covered = new Map<string, number>();
    for (const child of group.children) {
      const inner = child.node === 'not' ? child.child : child;
      if (!isLeaf(inner)) continue;
      const { leaf } = placed(inner);
      if (!isAlwaysDecided(leaf)) continue;
      const kinds = child.node === 'not' ? ALL_KINDS & ~kindsMatched(leaf) : kindsMatched(leaf);
      const before = covered.get(sourceKey(leaf)) ?? 0;
      covered.set(sourceKey(leaf), before | kinds);
      if (before === ALL_KINDS || (before | kinds) !== ALL_KINDS) continue;
      const hint = `With the alternatives before it, every record matches, whatever ${sourceName(leaf)} holds.`;
      this.warn(child.spot.pointer, 'always_true', hint);
    }
  }

  /** Payload children run in written order, so a heavy one in front runs for records that a cheap one rejects. */
  private warnOfHeavyFirst(group: Group): void {
    for (const [index, child] of group.children.entries()) {
      if (!isLeaf(child)) continue;
      const { leaf, pointer } = placed(child);
      if (leaf.source.from !== 'payload' || !isHeavyLeaf(leaf)) continue;
      const cheaper = group.children.slice(index + 1).find((later) => isLeaf(later) && isCheapPayload(placed(later)));
      if (cheaper === undefined) continue;
      const hint = `Payload tests of an \`all\` run in written order; put it behind ${cheaper.spot.pointer}, which is cheaper.`;
      this.warn(pointer, 'heavy_first', hint);
    }
  }

  private visitNot(node: LaserNode & { readonly node: 'not' }, around: Surroundings): void {
    const { child } = node;
    if (child.node === 'not') {
      this.warn(
        node.spot.pointer,
        'redundant_group',
        'A double negation says what stands inside; unknown stays unknown.',
      );
    } else {
      const present = around.required.filter(({ leaf }) => !matchesMissing(leaf)).map(({ leaf }) => sourceKey(leaf));
      const open = openLeaf(child, new Set([...around.excused, ...present]));
      if (open !== undefined) this.warn(node.spot.pointer, 'not_over_missing', missingHint(open));
    }
    this.visit(child, around);
  }

  private visitLeaf(node: LeafNode, around: Surroundings): void {
    const { leaf, pointer } = placed(node);
    if (leaf.source.from === 'header') this.meetKey(node, leaf.source.key);
    this.warnOfNever(pointer, leaf, around);
    warnOfLeaf(node, this.regex, (warning) => this.warnings.push(warning));
    if (this.isHeavy && isHeavyLeaf(leaf) && leaf.source.from === 'payload') {
      const why =
        leaf.node === 'text' && leaf.kind === 'regex'
          ? 'A regex runs over the text of every record that gets here, at a cost per byte that no other test has.'
          : 'Ignoring case, a text with characters beyond ASCII is decoded, lowered and encoded again for each record.';
      this.warn(pointer, 'heavy', why);
    }
  }

  private warnOfNever(pointer: string, leaf: Leaf, { required }: Surroundings): void {
    for (const other of required) {
      const exclusion = exclusionOf(other.leaf, leaf, this.regex);
      if (exclusion === undefined) continue;
      if (exclusion === 'kinds' && areNumberAndText(other.leaf, leaf)) {
        const hint = `One of this and ${other.pointer} needs a number, the other a text, so they never both match; \`pred_as\` with \`coerce: number\` compares numbers held as text.`;
        this.warn(pointer, 'number_against_text', hint);
      } else {
        this.warn(pointer, 'never_true', `It can never match where ${other.pointer} does, which has to match too.`);
      }
      return;
    }
  }

  private meetKey(node: LeafNode, key: string): void {
    const known = this.keys.get(key.toLowerCase());
    if (known === undefined) this.keys.set(key.toLowerCase(), key);
    if (known === undefined || known === key) return;
    const member = node.node === 'header' ? 'header/key' : 'header_text/field';
    const what = RESERVED_KEYS.includes(known) ? 'the reserved key' : 'the key';
    const hint = `Keys match exactly; this one differs from ${what} \`${shown(known)}\` only by case.`;
    this.warn(`${node.spot.pointer}/${member}`, 'header_key_case', hint);
  }
}

function isLeaf(node: LaserNode): node is LeafNode {
  return node.node !== 'all' && node.node !== 'any' && node.node !== 'not';
}

function placed(node: LeafNode): PlacedLeaf {
  // A leaf of the tree lowers to one leaf of the IR.
  return { pointer: node.spot.pointer, leaf: lowerNode(node) as Leaf };
}

/** Equal for equal sources. */
function sourceKey({ source }: Leaf): string {
  return source.from === 'header' ? `header ${source.key}` : `payload ${pathText(source.path)}`;
}

/** How hints name a source. */
function sourceName({ source }: Leaf): string {
  return source.from === 'header' ? `header \`${shown(source.key)}\`` : `\`${shown(pathText(source.path))}\``;
}

/** The sources whose absence is decided for a whole group: an `all` that demands presence, an `any` that admits absence. */
function decidedWhereMissing({ node, children }: Group): string[] {
  const leaves = children.filter(isLeaf).map((child) => placed(child).leaf);
  const isWhole = (leaf: Leaf): boolean => isAlwaysDecided(leaf) && matchesMissing(leaf) === (node === 'any');
  return leaves.filter(isWhole).map(sourceKey);
}

function withExcused(excused: ReadonlySet<string>, children: readonly LaserNode[]): ReadonlySet<string> {
  const leaves = children.filter(isLeaf).map((child) => placed(child).leaf);
  return new Set([...excused, ...leaves.filter(matchesMissing).map(sourceKey)]);
}

/** The first leaf below that is unknown where its field is missing, unless one of `decided` says what happens then. */
function openLeaf(node: LaserNode, decided: ReadonlySet<string>): Leaf | undefined {
  switch (node.node) {
    case 'all':
    case 'any': {
      const below = new Set([...decided, ...decidedWhereMissing(node)]);
      for (const child of node.children) {
        const open = openLeaf(child, below);
        if (open !== undefined) return open;
      }
      return undefined;
    }
    case 'not':
      return openLeaf(node.child, decided);
    default: {
      const { leaf } = placed(node);
      return isAlwaysDecided(leaf) || decided.has(sourceKey(leaf)) ? undefined : leaf;
    }
  }
}

function missingHint(leaf: Leaf): string {
  const what = `Where ${sourceName(leaf)} is missing`;
  if (leaf.source.from === 'header') {
    return `${what}, this is unknown, and so is its negation: such a record is not selected.`;
  }
  const path = JSON.stringify(shown(pathText(leaf.source.path)));
  return (
    `${what} or null, this is unknown, and so is its negation: such a record is not selected. ` +
    `Put {"absent": ${path}} beside it in an \`any\` to select it, or {"present": ${path}} in an \`all\` if that is meant.`
  );
}

function isCheapPayload({ leaf }: PlacedLeaf): boolean {
  return leaf.source.from === 'payload' && !isHeavyLeaf(leaf);
}

function areNumberAndText(a: Leaf, b: Leaf): boolean {
  const kinds = kindsMatched(a) | kindsMatched(b);
  return kinds === (KIND_NUMBER | KIND_TEXT);
}
