/**
 * What the text leaves need of a regex engine (laser-filter §3): the Rust engine's syntax and meaning, a search in
 * linear time. The engine itself is WebAssembly handed in from outside, so this room stays pure.
 */

/** One compiled pattern. It owns WebAssembly memory until it is dropped with the filter. */
export interface CompiledRegex {
  /** Searches the UTF-8 bytes `start`…`end` of `bytes`. Allocates nothing. The caller bounds the length. */
  search(bytes: Uint8Array, start: number, end: number): boolean;
}

export interface RegexEngine {
  /** Compiles, or throws a `Refusal` `invalid_request` with the engine's own words about the pattern. */
  compile(pattern: string, caseInsensitive: boolean): CompiledRegex;
}
