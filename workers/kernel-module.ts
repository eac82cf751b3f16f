/**
 * Finds and compiles the kernel's WebAssembly module, once per process; the threads are handed the compiled module.
 *
 * `npm run build` puts the binary beside the compiled form of this file. It needs SIMD, which a runtime may lack on an
 * old processor: `hasWasmSimd` says so before the binary is looked at, so that a broken binary is never taken for it.
 */
import { readFileSync } from 'node:fs';

/** Where the build puts the kernel. */
const KERNEL_URL = new URL('kernel.wasm', import.meta.url);

/** The smallest module with vector instructions: `(func (result v128) i32.const 0 i8x16.splat i8x16.popcnt)`. */
const SIMD_PROBE = Buffer.from('0061736d010000000105016000017b030201000a0a0108004100fd0ffd620b', 'hex');

/** True where this runtime, on this processor, runs WebAssembly with SIMD. */
export function hasWasmSimd(): boolean {
  return WebAssembly.validate(SIMD_PROBE);
}

/**
 * Reads and compiles the module, synchronously, at start-up only. Throws an `Error` that says what to do if the binary
 * is missing or is none: a broken installation.
 */
export function loadKernelModule(url: URL = KERNEL_URL): WebAssembly.Module {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(url);
  } catch (thrown) {
    throw new Error(`the kernel's binary kernel.wasm cannot be read: run "npm run build"`, { cause: thrown });
  }
  try {
    return new WebAssembly.Module(bytes);
  } catch (thrown) {
    throw new Error(`the kernel's binary kernel.wasm is broken: run "npm run build"`, { cause: thrown });
  }
}
