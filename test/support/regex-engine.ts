/** The real regex engine with a cache in front, so that tests over thousands of filters compile each pattern once. */
import type { CompiledRegex, RegexEngine } from '../../src/filter/regex.js';
import { rustRegexEngine } from '../../src/filter/rust-regex.js';
import { loadRegexModule } from '../../workers/regex-module.js';

/** Each compiled pattern is an engine instance of about 1 MiB and much address space. */
const COMPILED_MAX = 64;

const engine = rustRegexEngine(loadRegexModule());
const compiled = new Map<string, CompiledRegex>();

/** Refuses what the engine refuses, every time; keeps what it made. */
export const cachedRegexEngine: RegexEngine = {
  compile(pattern, caseInsensitive) {
    const key = `${caseInsensitive}${pattern}`;
    const regex = compiled.get(key) ?? engine.compile(pattern, caseInsensitive);
    if (compiled.size >= COMPILED_MAX) compiled.clear();
    compiled.set(key, regex);
    return regex;
  },
};
