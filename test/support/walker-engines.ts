/** Every engine that reads records, for tests that say the same of all of them. */
import { programInputs } from '../../src/scan/program-inputs.js';
import { newKernel } from './kernel.js';
import { cachedRegexEngine } from './regex-engine.js';
import { TYPESCRIPT_ENGINE, type WalkerEngine } from './walker-engine.js';

/** One instance for all, as a worker has: whoever comes next finds what the one before left. */
const kernel = newKernel();
const { frames } = kernel;

export const KERNEL_ENGINE: WalkerEngine = {
  name: 'kernel',
  stage: kernel.window,
  makeWalker: (paths, limits) => programInputs(cachedRegexEngine, limits, kernel).makeWalker('json', paths, limits),
  programInputs: (limits) => programInputs(cachedRegexEngine, limits, kernel),
  announce(records) {
    for (const [row, { start, payloadEnd, end }] of records.entries()) {
      frames.payloadStarts[row] = start;
      frames.payloadEnds[row] = payloadEnd;
      frames.frameEnds[row] = end;
    }
    frames.begin(records.length);
  },
  moveTo(index) {
    frames.row = index;
  },
};

export const WALKER_ENGINES: readonly WalkerEngine[] = [TYPESCRIPT_ENGINE, KERNEL_ENGINE];
