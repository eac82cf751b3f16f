/**
 * What each frame fault means, in words for people: error details, the inspector, logs.
 */
import { FRAME_BYTES_MAX, OFFSET_MAX } from '../core/limits.js';
import type { FrameFault } from './frame.js';

const DESCRIPTIONS: Readonly<Record<FrameFault, string>> = {
  '': 'No fault.',
  length: `The frame announces more than ${FRAME_BYTES_MAX} bytes.`,
  reserved: 'The reserved field of the frame is not zero.',
  offset: `The offset of the frame is above ${OFFSET_MAX}.`,
  checksum: 'The checksum of the frame does not match its bytes.',
  prefix: 'The segment is shorter than its prefix.',
  partition: 'The segment belongs to another partition.',
  count: 'The number of frames differs from the one announced.',
  order: 'The offset of the frame is not above the one before it.',
  torn: 'The segment ends inside a frame.',
  shrunk: 'The segment is shorter than when it was opened.',
};

/** One sentence about a fault. */
export function describeFrameFault(fault: FrameFault): string {
  return DESCRIPTIONS[fault];
}
