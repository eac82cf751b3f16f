/**
 * The Rust regex engine behind `RegexEngine`: our own thin glue on the raw exports of its WebAssembly module.
 *
 * Why not the JavaScript API that ships with the module: it leaks. Here every compiled pattern owns a private instance,
 * hands it exact-size UTF-8 bytes, reads back one boolean, and goes with its filter as one piece of garbage.
 *
 * Invariants: a search allocates nothing on the JavaScript heap and frees what it allocates inside the instance; an
 * instance in which the engine trapped is never used again; the module itself comes from outside (this room is pure).
 *
 * ABI: `rregex_new(ptr, len) → [regex, error, failed]` and `rregex_isMatch(regex, ptr, len) → 0|1` both take
 * ownership of (and free) the bytes at `ptr`, which must come from `__wbindgen_malloc(len, 1)` with exactly that length.
 * `error` is an index into the table of external references, where the engine has put its message.
 */
import { Refusal, refuse } from '../core/error-codes.js';
import type { CompiledRegex, RegexEngine } from './regex.js';

/** One instance of the module: the exports that the glue uses, under names of its own. */
interface Engine {
  readonly memory: WebAssembly.Memory;
  readonly allocate: (length: number, align: number) => number;
  readonly compile: (pointer: number, length: number) => [number, number, number];
  readonly isMatch: (regex: number, pointer: number, length: number) => number;
  readonly references: WebAssembly.Table;
}

/** Engine flag for simple Unicode case folding. Patterns cannot hold flags of their own (laser-filter §3). */
const FOLD_CASE = '(?i)';

/**
 * A regex engine over the compiled module.
 *
 * `compile` refuses with `invalid_request` and the engine's own words where the pattern does not parse or exceeds the
 * engine's fixed bound of 10 MiB per program, and where the engine runs out of memory; the bounds of the contract on
 * patterns are counted before and are tighter. `search` wants valid UTF-8 (the engine trusts it) and throws a `Refusal`
 * `backend` if the engine traps; the next search runs in a fresh instance.
 */
export function rustRegexEngine(module: WebAssembly.Module): RegexEngine {
  return {
    compile(pattern, caseInsensitive) {
      if (!caseInsensitive) return new RustRegex(module, pattern);
      try {
        return new RustRegex(module, FOLD_CASE + pattern);
      } catch (thrown) {
        // The message quotes the pattern with our flag and points into it; the same fault in the user's text is clearer.
        if (thrown instanceof Refusal) compileIn(instantiate(module), pattern);
        throw thrown;
      }
    },
  };
}

class RustRegex implements CompiledRegex {
  readonly #module: WebAssembly.Module;
  readonly #pattern: string;
  #engine: Engine;
  #regex: number;
  #memory: Uint8Array;
  #trapped = false;

  constructor(module: WebAssembly.Module, pattern: string) {
    this.#module = module;
    this.#pattern = pattern;
    this.#engine = instantiate(module);
    this.#regex = compileIn(this.#engine, pattern);
    this.#memory = new Uint8Array(this.#engine.memory.buffer);
  }

  search(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#trapped) this.#renew();
    const length = end - start;
    try {
      const pointer = this.#engine.allocate(length, 1) >>> 0;
      // The memory may have grown in this call or the one before, which detaches the view.
      if (this.#memory.byteLength === 0) this.#memory = new Uint8Array(this.#engine.memory.buffer);
      const memory = this.#memory;
      // PERF: a loop, because `set(subarray)` would allocate a view for each search.
      for (let i = 0; i < length; i++) memory[pointer + i] = bytes[start + i]!;
      return this.#engine.isMatch(this.#regex, pointer, length) !== 0;
    } catch (thrown) {
      if (!(thrown instanceof WebAssembly.RuntimeError)) throw thrown;
      this.#trapped = true;
      return refuse('backend', `the regex engine trapped while searching ${length} bytes: ${thrown.message}`);
    }
  }

  #renew(): void {
    this.#engine = instantiate(this.#module);
    this.#regex = compileIn(this.#engine, this.#pattern);
    this.#memory = new Uint8Array(this.#engine.memory.buffer);
    this.#trapped = false;
  }
}

function compileIn(engine: Engine, pattern: string): number {
  const utf8 = new TextEncoder().encode(pattern);
  try {
    const pointer = engine.allocate(utf8.length, 1) >>> 0;
    new Uint8Array(engine.memory.buffer).set(utf8, pointer);
    const [regex, error, failed] = engine.compile(pointer, utf8.length);
    if (failed === 0) return regex >>> 0;
    const message = engine.references.get(error);
    return refuse('invalid_request', `the pattern does not compile: ${String(message)}`);
  } catch (thrown) {
    if (!(thrown instanceof WebAssembly.RuntimeError)) throw thrown;
    return refuse('invalid_request', `the pattern exhausts the regex engine: ${thrown.message}`);
  }
}

/**
 * A fresh instance. Of the module's imports only two are reached by the exports above: the one that turns an error into
 * a value (here its text) and the one that reports a panic. The others build results that the glue never asks for.
 */
function instantiate(module: WebAssembly.Module): Engine {
  const text = (pointer: number, length: number): string =>
    new TextDecoder().decode(new Uint8Array(engine.memory.buffer, pointer >>> 0, length >>> 0));
  const imports: Record<string, unknown> = {};
  for (const { name } of WebAssembly.Module.imports(module)) {
    imports[name] = (): never => {
      throw new WebAssembly.RuntimeError(`unexpected call of ${name}`);
    };
  }
  imports['__wbindgen_error_new'] = text;
  imports['__wbindgen_string_new'] = text;
  imports['__wbindgen_throw'] = (pointer: number, length: number): never => {
    throw new WebAssembly.RuntimeError(text(pointer, length));
  };
  // The four constants that generated code keeps in the table are read only through imports that are never called.
  imports['__wbindgen_init_externref_table'] = (): void => {
    engine.references.grow(4);
  };
  const { exports } = new WebAssembly.Instance(module, { wbg: imports });
  const engine = {
    memory: exports['memory'],
    allocate: exports['__wbindgen_malloc'],
    compile: exports['rregex_new'],
    isMatch: exports['rregex_isMatch'],
    references: exports['__wbindgen_export_2'],
  } as Engine;
  (exports['__wbindgen_start'] as () => void)();
  return engine;
}
