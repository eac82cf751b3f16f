/**
 * The engines that read payloads and header blocks, by name. Both give the same results; they differ in speed and in
 * what they ask of the machine.
 */

/** `kernel`: WebAssembly with SIMD. `walker`: TypeScript, on every machine. */
export const ENGINE_NAMES = ['kernel', 'walker'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

/** What may be configured. `auto`: the kernel where the runtime has SIMD, else the walker. */
export const ENGINE_CHOICES = ['auto', ...ENGINE_NAMES] as const;
export type EngineChoice = (typeof ENGINE_CHOICES)[number];
