/**
 * Reading the members of a filter's objects: which are known, which are missing, what type each must have.
 *
 * It is the only place where an unknown member is met: ignored with a warning, or refused under `strict`. A member
 * given twice and a member name without a UTF-8 form are refused, known or not (laser-filter §1).
 */
import type { JsonDocument } from '../../../core/exact-json.js';
import type { JsonNode, JsonString } from '../../../core/json-node.js';
import { pointerToken } from '../../../core/json-pointer.js';
import { FILTER_WARNINGS_MAX } from '../../../core/limits.js';
import type { ProblemExtras } from '../../../core/text-place.js';
import type { ErrorCode } from '../../../core/error-codes.js';
import type { FilterWarning } from '../../compiled-filter.js';
import type { Spot } from './tree.js';

/** Characters of a user's text shown in a refusal. */
const SHOWN_MAX = 60;

/** One compilation's text, strictness and warnings, and the refusals that point into the text. */
export class FilterReader {
  readonly document: JsonDocument;
  readonly warnings: FilterWarning[] = [];
  private readonly strict: boolean;
  private unreported = 0;

  constructor(document: JsonDocument, strict: boolean) {
    this.document = document;
    this.strict = strict;
  }

  /** Refuses the filter because of the value at `spot`: pointer, byte position and caret are filled in. */
  refuse(spot: Spot, detail: string, more: ProblemExtras = {}, code: ErrorCode = 'invalid_request'): never {
    this.document.refuseAt(spot.json.start, code, detail, { field: spot.pointer, ...more });
  }

  /** Refuses the filter because of one character of a string: `index` counts UTF-16 units of its value. */
  refuseInside(spot: Spot, index: number, detail: string, more: ProblemExtras = {}): never {
    const at = spot.json.kind === 'string' ? this.document.indexInString(spot.json, index) : spot.json.start;
    this.document.refuseAt(at, 'invalid_request', detail, { field: spot.pointer, ...more });
  }

  /** The members of an object that has only the known ones; `what` names the object in refusals. */
  members(spot: Spot, what: string, known: readonly string[]): Members {
    const { json } = spot;
    if (json.kind !== 'object') this.refuse(spot, `Expected ${what} as an object, not ${nameOfKind(json)}.`);
    const found = new Map<string, Spot>();
    for (const { key, value } of json.members) {
      const member = { json: value, pointer: `${spot.pointer}/${pointerToken(key.value)}` };
      if (key.isUnpaired) this.refuse({ json: key, pointer: spot.pointer }, 'A member name has an unpaired surrogate.');
      if (found.has(key.value)) {
        this.refuse({ json: key, pointer: member.pointer }, `The member \`${shown(key.value)}\` is given twice.`);
      }
      found.set(key.value, member);
      if (!known.includes(key.value)) this.meetUnknown(key, member.pointer, what, known);
    }
    return new Members(this, spot, what, found);
  }

  /** All warnings of the compilation; the last one counts what was too much to list. */
  finishedWarnings(): readonly FilterWarning[] {
    if (this.unreported === 0) return this.warnings;
    const hint = `${this.unreported} more unknown members were ignored.`;
    return [...this.warnings, { pointer: '', reason: 'more_unknown_members', hint }];
  }

  private meetUnknown(key: JsonString, pointer: string, what: string, known: readonly string[]): void {
    const hint = `Known members of ${what}: ${known.join(', ')}.`;
    if (this.strict) this.refuse({ json: key, pointer }, `Unknown member \`${shown(key.value)}\`. ${hint}`);
    if (this.warnings.length < FILTER_WARNINGS_MAX) this.warnings.push({ pointer, reason: 'unknown_member', hint });
    else this.unreported += 1;
  }
}

/** The members of one object, asked for by name and type. */
export class Members {
  private readonly reader: FilterReader;
  private readonly spot: Spot;
  private readonly what: string;
  private readonly found: ReadonlyMap<string, Spot>;

  constructor(reader: FilterReader, spot: Spot, what: string, found: ReadonlyMap<string, Spot>) {
    this.reader = reader;
    this.spot = spot;
    this.what = what;
    this.found = found;
  }

  optional(name: string): Spot | undefined {
    return this.found.get(name);
  }

  required(name: string): Spot {
    const member = this.found.get(name);
    if (member !== undefined) return member;
    const spot = { json: this.spot.json, pointer: `${this.spot.pointer}/${name}` };
    return this.reader.refuse(spot, `The member \`${name}\` of ${this.what} is missing.`);
  }

  /** A required member that is text with a UTF-8 form. */
  text(name: string): { readonly value: string; readonly spot: Spot } {
    const spot = this.required(name);
    return { value: textAt(this.reader, spot, `\`${name}\``), spot };
  }

  /** A required member that is one of a closed set of words. */
  word<Word extends string>(name: string, words: readonly Word[]): Word {
    return wordAt(this.reader, this.required(name), `\`${name}\``, words);
  }

  /** As {@link word}, with a default where the member is left out; null is no way to leave it out. */
  wordOr<Word extends string>(name: string, words: readonly Word[], byDefault: Word): Word {
    const spot = this.optional(name);
    return spot === undefined ? byDefault : wordAt(this.reader, spot, `\`${name}\``, words);
  }
}

/** The text of a string that has a UTF-8 form; `what` names it in refusals. */
export function textAt(reader: FilterReader, spot: Spot, what: string): string {
  const { json } = spot;
  if (json.kind !== 'string') return reader.refuse(spot, `Expected ${what} as text, not ${nameOfKind(json)}.`);
  if (json.isUnpaired) {
    reader.refuse(spot, `${what} holds an unpaired surrogate, which UTF-8 cannot carry.`);
  }
  return json.value;
}

function wordAt<Word extends string>(reader: FilterReader, spot: Spot, what: string, words: readonly Word[]): Word {
  const text = textAt(reader, spot, what);
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  return reader.refuse(spot, `${what} is \`${shown(text)}\`; it must be one of ${words.join(', ')}.`, {
    given: shown(text),
  });
}

/** A user's text short enough for a refusal. */
export function shown(text: string): string {
  const points = Array.from(text.slice(0, 2 * SHOWN_MAX + 2));
  return points.length > SHOWN_MAX ? `${points.slice(0, SHOWN_MAX).join('')}…` : text;
}

/** The kind of a JSON value as a sentence says it. */
export function nameOfKind(json: JsonNode): string {
  switch (json.kind) {
    case 'object':
      return 'an object';
    case 'array':
      return 'a list';
    case 'string':
      return 'text';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'a boolean';
    case 'null':
      return 'null';
  }
}
