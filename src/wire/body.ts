/**
 * Request bodies to plain values (contract: scan-protocol, preamble): the JSON half, and what both encodings share.
 *
 * No number passes through a double: integers beyond ±(2^53−1) become decimal text, and members that hold a filter or a
 * test record stay JSON text, to be read exactly in a worker. Repeated members are refused. The schemas check the
 * shape afterwards (`check.ts`).
 */
import { readJsonBytes } from '../core/exact-json.js';
import { plainJson, type PlainJson } from '../core/plain-json.js';

/** Pointers of the members that stay JSON text. */
const EXACT_POINTER = /^(?:\/filters\/\d+|\/a|\/b)?\/filter$|^\/record$/;

/** True where a member is handed on as its JSON text. */
export function staysJsonText(pointer: string): boolean {
  return EXACT_POINTER.test(pointer);
}

/**
 * Reads a JSON body. Throws `invalid_request`: a text that does not parse carries `position` and a caret, a repeated
 * member or unpaired surrogate its pointer.
 */
export function readJsonBody(bytes: Uint8Array): PlainJson {
  const document = readJsonBytes(bytes);
  return plainJson(document, document.root, (pointer, node) => {
    if (staysJsonText(pointer)) return document.sourceOf(node);
    if (node.kind !== 'number' || !node.isInteger || Number.isSafeInteger(document.doubleOf(node))) return undefined;
    return document.sourceOf(node);
  });
}
