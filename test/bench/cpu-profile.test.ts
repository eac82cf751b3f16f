/**
 * A profile's table counts a function's own time, of what the thread did, from where it is asked to.
 */
import { expect, it } from 'vitest';
import { type CpuProfile, profileMarkdown, profileRows } from '../../bench/cpu-profile.js';

const frame = (functionName: string, url = '', lineNumber = -1) => ({ functionName, url, lineNumber });

const PROFILE: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)') },
    { id: 2, callFrame: frame('walk', 'file:///somewhere/src/json/walker.js', 9) },
    { id: 3, callFrame: frame('wasm-function[4]', 'wasm://wasm/1234') },
    { id: 4, callFrame: frame('(idle)') },
    { id: 5, callFrame: frame('walk', 'file:///somewhere/src/json/walker.js', 9) },
  ],
  startTime: 1000,
  samples: [2, 4, 3, 5, 3],
  timeDeltas: [10, 500, 10, 20, 60],
};

it('adds up the samples of one function wherever it was called from, without idle time', () => {
  expect(profileRows(PROFILE)).toEqual([
    { place: 'wasm-function[4] (WebAssembly)', share: 0.7 },
    { place: 'walk json/walker.js:10', share: 0.3 },
  ]);
});

it('leaves out what came before a moment', () => {
  expect(profileRows(PROFILE, 1541)).toEqual([{ place: 'wasm-function[4] (WebAssembly)', share: 1 }]);
});

it('says how much the functions that are not shown took', () => {
  expect(profileMarkdown('a title', profileRows(PROFILE), 1).split('\n').slice(2)).toEqual([
    '| wasm-function[4] (WebAssembly) | 70.0 % |',
    '| all others | 30.0 % |',
  ]);
});
