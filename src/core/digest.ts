/**
 * Digests: the identity of a text, as lower-case hex (identity, not protection against corruption: that is a checksum).
 */
import { createHash } from 'node:crypto';

/**
 * SHA-256 over the domain name, one zero byte and the UTF-8 of the text, in lower-case hex (64 characters).
 *
 * The domain keeps digests of different things apart even where their texts are equal (laser-filter §1).
 */
export function domainDigest(domain: string, text: string): string {
  return createHash('sha256').update(`${domain}\0${text}`, 'utf8').digest('hex');
}

/** SHA-256 over the domain name, one zero byte and the pieces one after another, in lower-case hex. */
export function bytesDigest(domain: string, pieces: readonly Uint8Array[]): string {
  const hash = createHash('sha256').update(`${domain}\0`, 'utf8');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}
