/**
 * Finds and compiles the WebAssembly module of the Rust regex engine, once per worker.
 *
 * It is the only file that knows the package it ships in; filters get the compiled module handed over
 * (`rustRegexEngine`), so swapping the engine's package touches this file alone. Only the `.wasm` file of the package
 * is used, never its JavaScript.
 */
import { readFileSync } from 'node:fs';

/**
 * Reads and compiles the module, synchronously: about 1 MiB, tens of milliseconds, at start-up only. Throws if the
 * package is missing or its file is not the expected WebAssembly: a broken installation.
 */
export function loadRegexModule(): WebAssembly.Module {
  const entry = import.meta.resolve('rregex');
  return new WebAssembly.Module(readFileSync(new URL('rregex.wasm', entry)));
}
