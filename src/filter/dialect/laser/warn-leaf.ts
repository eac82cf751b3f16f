/**
 * Warnings about one leaf alone: patterns that say something simpler, lists of `in`, digits in text (reasons:
 * `warning-reasons.ts`).
 *
 * Each is certain about what it says of the pattern or the list; whether it was meant is the reader's to judge, so the
 * rules are narrow: a filter that is merely unusual is left alone.
 */
import { CONTENT_TYPE_KEY, SCHEMA_ID_KEY } from '../../../core/header-value.js';
import type { FilterWarning } from '../../compiled-filter.js';
import type { RegexEngine } from '../../regex.js';
import { compileText, TEXT_YES } from '../../text.js';
import { scalarOf } from './lower.js';
import { shown } from './members.js';
import type { Comparison, LaserNode, ScalarLiteral, TextMatch } from './tree.js';

export type LeafNode = Exclude<LaserNode, { readonly node: 'all' | 'any' | 'not' }>;

/** The keys that records reserve; both hold integers (laser-filter §4). */
export const RESERVED_KEYS: readonly string[] = [CONTENT_TYPE_KEY, SCHEMA_ID_KEY];

/** Warns of what one leaf says, through `warn`. */
export function warnOfLeaf(node: LeafNode, regex: RegexEngine, warn: (warning: FilterWarning) => void): void {
  switch (node.node) {
    case 'pred':
    case 'header':
      warnOfDigits(node, warn);
      warnOfItems(node.comparison, warn);
      return;
    case 'pred_as':
      warnOfItems(node.comparison, warn);
      return;
    case 'text':
    case 'header_text':
      warnOfReservedText(node, warn);
      warnOfPattern(node, regex, warn);
      return;
    default:
  }
}

/** Text orders letter by letter, so `"9"` stands above `"10"`; a number in the record never meets a text literal. */
function warnOfDigits(
  node: LeafNode & { readonly node: 'pred' | 'header' },
  warn: (warning: FilterWarning) => void,
): void {
  const { op, value } = node.comparison;
  if (node.node === 'header' && RESERVED_KEYS.includes(node.key)) {
    const text = value.kind === 'list' ? value.items.find(({ kind }) => kind === 'string') : value;
    if (text?.kind === 'string') warnOfReserved(node.key, text.spot.pointer, warn);
    return;
  }
  if (value.kind !== 'string' || !/^[+-]?[0-9]+(?:\.[0-9]+)?$/.test(value.value)) return;
  if (op === 'eq' || op === 'ne' || op === 'in') return;
  const compared =
    op === 'contains' || op === 'prefix'
      ? `\`${op}\` looks for these digits in text; a number in the record never matches.`
      : `\`${op}\` compares text letter by letter ("9" is above "10"), and a number in the record never matches.`;
  const instead =
    node.node === 'header'
      ? 'If the header is a number, use an `int`, `long` or `double` literal.'
      : 'For numbers use an `int`, `long` or `double` literal, for numbers held as text `pred_as` with `coerce: number`.';
  warn({ pointer: value.spot.pointer, reason: 'number_against_text', hint: `${compared} ${instead}` });
}

function warnOfReserved(key: string, pointer: string, warn: (warning: FilterWarning) => void): void {
  const example = key === CONTENT_TYPE_KEY ? ' (1 is JSON)' : '';
  warn({
    pointer,
    reason: 'number_against_text',
    hint: `The reserved header \`${key}\` holds an integer${example}, which no text matches; use an \`int\` literal.`,
  });
}

function warnOfReservedText(
  node: LeafNode & { readonly node: 'text' | 'header_text' },
  warn: (warning: FilterWarning) => void,
): void {
  if (node.node === 'header_text' && RESERVED_KEYS.includes(node.key)) {
    warnOfReserved(node.key, node.match.patternSpot.pointer, warn);
  }
}

function warnOfItems({ op, value }: Comparison, warn: (warning: FilterWarning) => void): void {
  if (op !== 'in' || value.kind !== 'list') return;
  if (value.items.length === 1) {
    warn({ pointer: value.spot.pointer, reason: 'in_single_item', hint: 'One item says the same with `eq`.' });
  }
  for (const [index, item] of value.items.entries()) {
    const earlier = value.items.slice(0, index).find((other) => isEqual(item, other));
    if (earlier === undefined) continue;
    warn({
      pointer: item.spot.pointer,
      reason: 'in_repeated_item',
      hint: `It equals the item at ${earlier.spot.pointer} and changes nothing.`,
    });
  }
}

/** Equal for every value: an integer and a double that name one number are. */
function isEqual(a: ScalarLiteral, b: ScalarLiteral): boolean {
  const [left, right] = [scalarOf(a), scalarOf(b)];
  if (left.kind === 'null' || right.kind === 'null') return left.kind === right.kind;
  const isNumber = (kind: string): boolean => kind === 'integer' || kind === 'double';
  if (left.kind !== right.kind && !(isNumber(left.kind) && isNumber(right.kind))) return false;
  // `==` between a bigint and a number is exact; between values of one kind it is `===`.
  return left.value == right.value;
}

function warnOfPattern(
  node: LeafNode & { readonly node: 'text' | 'header_text' },
  regex: RegexEngine,
  warn: (warning: FilterWarning) => void,
): void {
  const { match } = node;
  const { kind, pattern, caseInsensitive } = match;
  const say = (reason: FilterWarning['reason'], hint: string): void =>
    warn({ pointer: match.patternSpot.pointer, reason, hint });
  if (matchesAnyText(match)) {
    const instead = node.node === 'text' ? ' To ask only whether there is a value, use `present`.' : '';
    say('matches_any_text', `Every text matches this ${kind} pattern.${instead}`);
    return;
  }
  if (kind === 'glob') {
    if (!/[*?]/.test(pattern.replaceAll(/\\[\s\S]/g, ''))) {
      say('glob_without_wildcards', 'Without `*` or `?` a glob is the whole text; kind `equals` says so.');
    }
    if (caseInsensitive && !globMatchesItself(pattern, regex)) {
      say(
        'glob_never_its_own_text',
        'Ignoring case, a glob lowers its letters one by one and the value as a whole, so this one does not match its ' +
          'own text (a final sigma or a dotted capital I changes). Write it in lower case as values are lowered.',
      );
    }
    return;
  }
  if (kind !== 'regex') return;
  const plain = plainRegex(pattern);
  if (plain !== undefined) {
    const folding = caseInsensitive ? ' (it lowers text where a regex folds single letters)' : '';
    say('regex_literal', `This is plain text: kind \`${plain.kind}\` with ${shownText(plain.text)}${folding}.`);
  } else if (pattern.startsWith('.*')) {
    say('regex_leading_any', 'A regex is searched for anywhere in the text; leave the leading `.*` out.');
  }
}

function matchesAnyText({ kind, pattern }: TextMatch): boolean {
  switch (kind) {
    case 'equals':
      return false;
    case 'glob':
      return /^\*+$/.test(pattern);
    case 'regex':
      return /^\^?(?:\.\*\??)?$|^\$$/.test(pattern);
    default:
      return pattern === '';
  }
}

function globMatchesItself(pattern: string, regex: RegexEngine): boolean {
  const text = new TextEncoder().encode(pattern.replaceAll(/\\([\s\S])/g, '$1'));
  return compileText('glob', pattern, true, regex).match(text, 0, text.length) === TEXT_YES;
}

/** The text that a regex of plain characters looks for, and the kind that finds it; undefined for any other regex. */
function plainRegex(pattern: string): { kind: 'equals' | 'prefix' | 'suffix' | 'contains'; text: string } | undefined {
  // An escaped sign is a plain character; a backslash before a letter or digit is not.
  const parts = /^(\^?)((?:[^\\^$.|?*+()[\]{}]|\\[\\^$.|?*+()[\]{}\-/])+)(\$?)$/u.exec(pattern);
  if (parts === null) return undefined;
  const [, start, body, end] = parts;
  const kind = start === '' ? (end === '' ? 'contains' : 'suffix') : end === '' ? 'prefix' : 'equals';
  return { kind, text: body!.replaceAll(/\\(.)/gsu, '$1') };
}

function shownText(text: string): string {
  return `\`${shown(text)}\``;
}
