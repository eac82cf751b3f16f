/** Every engine that walks JSON payloads, for tests that say the same of all of them. */
import { TYPESCRIPT_ENGINE, type WalkerEngine } from './walker-engine.js';

export const WALKER_ENGINES: readonly WalkerEngine[] = [TYPESCRIPT_ENGINE];
