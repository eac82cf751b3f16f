/**
 * Writes `ndjson` segments (contract: formats §4), for tests, datasets and demos.
 */

/** Every payload on its own line with `lineEnd` after it, the last one too unless `isLastOpen`. Payloads hold no line feed. */
export function encodeNdjson(
  payloads: readonly Uint8Array[],
  lineEnd: '\n' | '\r\n' = '\n',
  isLastOpen = false,
): Uint8Array {
  const end = new TextEncoder().encode(lineEnd);
  let total = isLastOpen && payloads.length > 0 ? -end.length : 0;
  for (const payload of payloads) total += payload.length + end.length;
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const payload of payloads) {
    bytes.set(payload, at);
    at += payload.length;
    if (at < total) bytes.set(end, at);
    at += end.length;
  }
  return bytes;
}
