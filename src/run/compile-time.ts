/**
 * Time to compile that a task is given beside the time of a slice, before it is stopped by force (scan-protocol §4).
 */
import { FILTER_COMPILE_MS_MAX, SCHEMA_COMPILE_MS_PER_MIB } from '../core/limits.js';

const MIB = 1024 * 1024;

/** What schemas of so many bytes may take, in ms. */
export function schemaCompileMs(schemas: readonly { readonly bytes: number }[]): number {
  const bytes = schemas.reduce((sum, schema) => sum + schema.bytes, 0);
  return Math.ceil((bytes * SCHEMA_COMPILE_MS_PER_MIB) / MIB);
}

/**
 * What the filters and schemas of a scan may take, in ms. A single filter is compiled in a time that no limit has to
 * know; many of them are worth more than a slice.
 */
export function compileMsOf(spec: {
  readonly filters: readonly unknown[];
  readonly schemas: readonly { readonly bytes: number }[];
}): number {
  return (spec.filters.length - 1) * FILTER_COMPILE_MS_MAX + schemaCompileMs(spec.schemas);
}
