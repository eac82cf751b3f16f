/**
 * Values as people write them: `"64 MiB"`, `"10s"`, `16` (contract: scan-protocol §5).
 *
 * Only exact readings are accepted: a unit that is missing, unknown or ambiguous (`"64 MB"`) is refused instead of
 * guessed, and a fraction has to come out whole. The readers return `undefined` for what they do not understand; the
 * caller names the key.
 */

const BYTE_UNITS: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
};

const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** What {@link readBytes} accepts, for error messages. */
export const BYTES_FORM = 'a size such as "64 MiB" (B, KiB, MiB, GiB, TiB) or a number of bytes';

/** What {@link readDuration} accepts, for error messages. */
export const DURATION_FORM = 'a duration such as "10s" (ms, s, m, h)';

/** What {@link readInteger} accepts, for error messages. */
export const INTEGER_FORM = 'a whole number';

/** A whole number of at least 0, as a number or as decimal text; else `undefined`. */
export function readInteger(value: unknown): number | undefined {
  if (typeof value === 'string' && /^\d{1,16}$/.test(value)) return whole(Number(value));
  return typeof value === 'number' ? whole(value) : undefined;
}

/** Bytes: text with a binary unit, or a bare number of bytes; else `undefined`. */
export function readBytes(value: unknown): number | undefined {
  return readInteger(value) ?? readScaled(value, BYTE_UNITS);
}

/**
 * Milliseconds: text with a unit; else `undefined`. A bare number is read as milliseconds only where the key itself
 * ends in `_ms` (`bareIsMs`), because elsewhere nothing says what it counts.
 */
export function readDuration(value: unknown, bareIsMs: boolean): number | undefined {
  return (bareIsMs ? readInteger(value) : undefined) ?? readScaled(value, DURATION_UNITS);
}

function readScaled(value: unknown, units: Readonly<Record<string, number>>): number | undefined {
  if (typeof value !== 'string') return undefined;
  const parts = /^(\d{1,16}(?:\.\d{1,6})?) ?([A-Za-z]{1,3})$/.exec(value.trim());
  if (parts === null || !Object.hasOwn(units, parts[2]!)) return undefined;
  return whole(Number(parts[1]) * units[parts[2]!]!);
}

function whole(value: number): number | undefined {
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
