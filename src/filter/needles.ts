/**
 * Texts without which a payload matches no filter of a program (design: house §5 "prefilter"): a walker that finds none
 * of them in a valid payload need not find its values.
 *
 * A leg is a conjunct that only a text holding a literal can satisfy: the root, or a child of an `all` that has to be
 * true as a whole. Where none of its needles stands in the payload, the leg does not match, and then the record is
 * rejected, unless a fault would come before the leg or a mismatch is delivered:
 *
 * - A filter that lets mismatches pass has no legs, for an undecided leg may deliver the record.
 * - Of a payload that was read well, only a `regex` can fault, on a text over REGEX_SUBJECT_BYTES_MAX: the gate is for
 *   payloads that cannot hold one.
 * - Header block, content type and the payload's validity are judged by whoever uses this.
 *
 * A needle stands in the payload as it stands in the text, quotes of the whole text included, unless it is written with
 * `\u` escapes: bytes that have a shorter escape are in no needle. Whoever searches takes care of `\u`.
 */
import type { NeedleGate, Needles } from '../codec/walker.js';
import { REGEX_SUBJECT_BYTES_MAX } from '../core/limits.js';
import { mayMatchUndecided } from './equality.js';
import { type Leaf, type LoweredFilter, type Predicate, readsPayload } from './ir.js';

/** The gate of filters over one codec; null where some filter has no leg. Those that read no payload do not count. */
export function needleGateOf(filters: readonly LoweredFilter[]): NeedleGate | null {
  const choices = filters.filter(({ root }) => readsPayload(root)).map(legsOf);
  if (choices.length === 0 || choices.some((legs) => legs.length === 0)) return null;
  return { payloadBytesMax: REGEX_SUBJECT_BYTES_MAX, choices };
}

function legsOf({ mismatchPolicy, root }: LoweredFilter): Needles[] {
  return mismatchPolicy === 'reject' ? conjunctsOf(root).flatMap(needlesOf) : [];
}

/** What has to match for the node to match. */
function conjunctsOf(node: Predicate): readonly Predicate[] {
  return node.node === 'all' ? node.children.flatMap(conjunctsOf) : [node];
}

/** The node's needles, as the one leg it is, or nothing. */
function needlesOf(node: Predicate): Needles[] {
  if (node.node === 'all' || node.node === 'any' || node.node === 'not') return [];
  if (node.source.from !== 'payload') return [];
  const needles = textsOf(node).map(({ text, isStart, isEnd }) => needleOf(text, isStart, isEnd));
  return needles.length > 0 && needles.every((needle) => needle !== null) ? [needles] : [];
}

/** A text that the value at a leaf holds; where it begins or ends the value, a quote stands beside it. */
interface RequiredText {
  readonly text: string;
  readonly isStart: boolean;
  readonly isEnd: boolean;
}

/** Texts one of which is in every value that the leaf matches; none where it matches others too. */
function textsOf(leaf: Leaf): readonly RequiredText[] {
  if (leaf.node === 'compare') {
    if (mayMatchUndecided(leaf.undecided)) return [];
    const { op } = leaf;
    if (op !== 'eq' && op !== 'in' && op !== 'prefix' && op !== 'contains') return [];
    // An array that contains a text holds it whole, a text that contains it may hold more.
    const isStart = op !== 'contains';
    const isEnd = op === 'eq' || op === 'in';
    const texts = leaf.literals.flatMap((literal) => (literal.kind === 'string' ? [literal.value] : []));
    return texts.length === leaf.literals.length ? texts.map((text) => ({ text, isStart, isEnd })) : [];
  }
  if (leaf.node !== 'text' || leaf.caseInsensitive || mayMatchUndecided(leaf.undecided)) return [];
  const { kind, pattern: text } = leaf;
  if (kind === 'glob' || kind === 'regex') return [];
  const isEqual = kind === 'equals';
  return [{ text, isStart: isEqual || kind === 'prefix', isEnd: isEqual || kind === 'suffix' }];
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SLASH = 0x2f;
const FIRST_PRINTABLE = 0x20;

/** The longest piece of the text that can be written without escapes or with `\u` alone; null if that says nothing. */
function needleOf(text: string, isStart: boolean, isEnd: boolean): Uint8Array | null {
  const utf8 = new TextEncoder().encode(text);
  let piece: number[] = isStart ? [QUOTE] : [];
  let longest = piece;
  for (const byte of utf8) {
    if (hasShortEscape(byte)) piece = [];
    else piece.push(byte);
    if (piece.length >= longest.length) longest = piece;
  }
  if (isEnd) piece.push(QUOTE);
  if (piece.length >= longest.length) longest = piece;
  return longest.some((byte) => byte !== QUOTE) ? Uint8Array.from(longest) : null;
}

/** True for a byte of UTF-8 that JSON can write in another way than as it is or by `\u`. */
function hasShortEscape(byte: number): boolean {
  return byte === QUOTE || byte === BACKSLASH || byte === SLASH || byte < FIRST_PRINTABLE;
}
