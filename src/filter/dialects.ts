/**
 * The table of filter languages: a new dialect is one folder and one line here.
 */
import { refuse } from '../core/error-codes.js';
import type { CompiledFilter, CompileFilter, CompileOptions } from './compiled-filter.js';
import { compileLaser } from './dialect/laser/compile.js';

/** The dialects that compile. */
export const DIALECTS: ReadonlyMap<string, CompileFilter> = new Map([['laser', compileLaser]]);

/** Dialects of the contract that are not built: they refuse as `unsupported`, not as unknown. */
const UNBUILT_DIALECTS: readonly string[] = ['net', 'iii'];

/**
 * Compiles a filter in the named dialect. Throws what the dialect's compiler throws; for the name itself `unsupported`
 * (known, not built) or `invalid_request`, with no `field`, because the name does not stand in the filter.
 */
export function compileFilter(dialect: string, text: string, options: CompileOptions): CompiledFilter {
  const compile = DIALECTS.get(dialect);
  if (compile !== undefined) return compile(text, options);
  if (UNBUILT_DIALECTS.includes(dialect)) refuse('unsupported', `The dialect \`${dialect}\` is not built yet.`);
  const known = [...DIALECTS.keys()].join(', ');
  return refuse('invalid_request', `Unknown dialect \`${dialect.slice(0, 60)}\`; it must be one of ${known}.`);
}
