/**
 * RFC 6901 pointers, the form in which refusals and warnings name a member.
 *
 * A pointer is built as text while a document is walked: the parent's pointer, `/`, and one token.
 */

/** One reference token: a member's name with `~` and `/` escaped. */
export function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
