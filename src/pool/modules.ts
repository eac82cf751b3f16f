/**
 * Gets the compiled WebAssembly for the workers' setup from the workers' own loader, which this side knows only by its
 * URL (house §3), as the pool does their entry.
 */
import type { EngineChoice, EngineName } from '../core/engine.js';
import type { WorkerModules } from '../scan/task.js';

/** The workers' loader, beside the compiled tree of this file. */
export const MODULES_URL = new URL('../../workers/modules.js', import.meta.url);

/**
 * Compiles once what every worker is handed. Rejects, with an `Error` for the operator, where the engine that was chosen
 * cannot run here or the installation is broken.
 */
export async function loadModules(choice: EngineChoice, url: URL = MODULES_URL): Promise<WorkerModules> {
  const loader = (await import(url.href)) as { readonly loadModules: (choice: EngineChoice) => WorkerModules };
  return loader.loadModules(choice);
}

/** The engine that workers with these modules run. */
export function engineOf({ kernel }: WorkerModules): EngineName {
  return kernel === null ? 'walker' : 'kernel';
}
