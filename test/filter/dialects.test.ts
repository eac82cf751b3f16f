/** The table of dialects: which names compile, which are known but not built, which are unknown. */
import { describe, expect, it } from 'vitest';
import { compileFilter, DIALECTS } from '../../src/filter/dialects.js';
import { problemFrom } from '../support/refused.js';
import { cachedRegexEngine } from '../support/regex-engine.js';

const options = { strict: false, regex: cachedRegexEngine };
const filter = '{"v":1,"evaluator_version":1,"expr":{"present":"a"},"codec":"json"}';

describe('a dialect name', () => {
  it('that is built compiles', () => {
    expect([...DIALECTS.keys()]).toEqual(['laser']);
    expect(compileFilter('laser', filter, options).lowered.dialect).toBe('laser');
  });

  it.each(['net', 'iii'])('%s is known but unsupported', (name) => {
    expect(problemFrom(() => compileFilter(name, filter, options)).code).toBe('unsupported');
  });

  it.each(['', 'LASER', 'sql', '__proto__'])('%j is unknown', (name) => {
    expect(problemFrom(() => compileFilter(name, filter, options)).code).toBe('invalid_request');
  });
});
