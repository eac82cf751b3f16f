/**
 * From the exact reader's nodes to plain values, for request bodies that a schema then checks.
 *
 * Numbers: a literal whose value is a safe integer or a double becomes a `number`; an integer beyond ±(2^53−1) becomes
 * a `bigint`, exact, as the MessagePack decoder gives it, so both encodings of a body look alike to the schema. What
 * JSON leaves open is refused here: a repeated member, an unpaired surrogate, a number that is no finite double.
 */
import { refuse } from './error-codes.js';
import type { JsonDocument } from './exact-json.js';
import type { JsonNode, JsonObject, JsonString } from './json-node.js';
import { pointerToken } from './json-pointer.js';
import { INTEGER_DIGITS_MAX } from './limits.js';
import type { ProblemExtras } from './text-place.js';

export type PlainJson = null | boolean | number | bigint | string | PlainJson[] | { [key: string]: PlainJson };

/**
 * Takes over a subtree: returns what stands for it in the plain value, or undefined to let the conversion go on.
 * A filter is taken over this way as its source text (`document.sourceOf(node)`), so it is never written again.
 */
export type PlainTakeover = (pointer: string, node: JsonNode, document: JsonDocument) => PlainJson | undefined;

/**
 * The plain value of a node. `pointer` is the node's RFC 6901 pointer, used for `field` and handed to `takeOver`.
 *
 * Throws `invalid_request` with `field`. A taken-over subtree is not looked at, so its faults are whoever reads it's.
 */
export function plainJson(document: JsonDocument, node: JsonNode, takeOver?: PlainTakeover, pointer = ''): PlainJson {
  const taken = takeOver?.(pointer, node, document);
  if (taken !== undefined) return taken;
  switch (node.kind) {
    case 'object':
      return plainObject(document, node, takeOver, pointer);
    case 'array':
      return node.items.map((item, index) => plainJson(document, item, takeOver, `${pointer}/${index}`));
    case 'string':
      return paired(node, pointer);
    case 'number': {
      const double = document.doubleOf(node);
      if (!node.isInteger || Number.isSafeInteger(double)) {
        if (Number.isFinite(double)) return double;
        fault(pointer, 'This number is beyond the range of a double.');
      }
      return (
        document.integerOf(node) ??
        fault(pointer, `This integer has more than ${INTEGER_DIGITS_MAX} digits.`, {
          limit: INTEGER_DIGITS_MAX,
          given: document.digitsOf(node),
        })
      );
    }
    case 'boolean':
      return node.value;
    case 'null':
      return null;
  }
}

function plainObject(
  document: JsonDocument,
  node: JsonObject,
  takeOver: PlainTakeover | undefined,
  pointer: string,
): PlainJson {
  const plain: { [key: string]: PlainJson } = {};
  for (const { key, value } of node.members) {
    const name = paired(key, pointer);
    const memberPointer = `${pointer}/${pointerToken(name)}`;
    if (Object.hasOwn(plain, name)) fault(memberPointer, 'This member is given more than once.');
    // Defined rather than assigned: a member named `__proto__` must be a member, not a prototype.
    Object.defineProperty(plain, name, {
      value: plainJson(document, value, takeOver, memberPointer),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return plain;
}

function paired(node: JsonString, pointer: string): string {
  if (node.isUnpaired) fault(pointer, 'This text holds an unpaired surrogate, which UTF-8 cannot carry.');
  return node.value;
}

function fault(pointer: string, detail: string, more: ProblemExtras = {}): never {
  refuse('invalid_request', detail, { ...more, field: pointer });
}
