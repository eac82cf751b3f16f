/**
 * The nodes of a JSON text as the exact reader gives them (`exact-json.ts`).
 *
 * A node knows where it stands, as UTF-16 indices into the text, half-open; what is costly to hold for every value (a
 * number's literal, byte offsets) is asked of the document.
 */

interface Placed {
  /** UTF-16 index of the value's first character. */
  readonly start: number;
  /** UTF-16 index past its last character. */
  readonly end: number;
}

export interface JsonMember {
  readonly key: JsonString;
  readonly value: JsonNode;
}

export interface JsonObject extends Placed {
  readonly kind: 'object';
  /** In written order, repeats kept. */
  readonly members: readonly JsonMember[];
}

export interface JsonArray extends Placed {
  readonly kind: 'array';
  readonly items: readonly JsonNode[];
}

export interface JsonString extends Placed {
  readonly kind: 'string';
  /** The text with its escapes undone. */
  readonly value: string;
  /** True when the value holds an unpaired surrogate (only an escape can write one), so it has no UTF-8 form. */
  readonly isUnpaired: boolean;
}

/** Its literal is `sourceOf(node)`; `integerOf` and `doubleOf` read it. */
export interface JsonNumber extends Placed {
  readonly kind: 'number';
  /** No fraction, no exponent, and not `-0` (which is a double: laser-filter §3). */
  readonly isInteger: boolean;
}

export interface JsonBoolean extends Placed {
  readonly kind: 'boolean';
  readonly value: boolean;
}

export interface JsonNull extends Placed {
  readonly kind: 'null';
}

export type JsonNode = JsonObject | JsonArray | JsonString | JsonNumber | JsonBoolean | JsonNull;

/** `String.prototype.isWellFormed` is in every Node this runs on, but not yet in the compiler's ES2023 library. */
export function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
