/**
 * What is said on a connection that broke: a problem where nothing is being sent, nothing where it would end up inside a
 * reply, whichever of several pipelined ones that is.
 */
import { PassThrough } from 'node:stream';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { answerClientError, type RequestAtWork } from '../../src/http/client-error.js';

const answered: string[] = [];
const atWork = (replyState: RequestAtWork['replyState'], requestId = 'r'): RequestAtWork => ({
  requestId,
  replyState,
  answeredBelow: ({ code }) => answered.push(`${requestId} ${code}`),
});
const SENDING = atWork('sending');
const NOT_BEGUN = atWork('not_begun');
const SENT = atWork('sent');

/** All that is written on a socket with these replies at work, and whether it was cut. */
function said(replies: readonly RequestAtWork[]): { readonly text: string; readonly isCut: boolean } {
  const socket = new PassThrough();
  answerClientError({ code: 'HPE_INVALID_METHOD' }, socket as unknown as Socket, replies, 1024);
  return { text: String(socket.read() ?? ''), isCut: socket.destroyed };
}

describe('a broken connection', () => {
  it.each([[[]], [[SENT]], [[NOT_BEGUN]], [[SENT, NOT_BEGUN]]])(
    'is answered where no reply is being sent',
    (replies) => {
      expect(said(replies).text).toMatch(/^HTTP\/1\.1 400 [^]*application\/problem\+json/);
    },
  );

  it.each([[[SENDING]], [[SENDING, NOT_BEGUN]], [[SENT, SENDING, NOT_BEGUN, NOT_BEGUN]]])(
    'is cut without a word inside a reply',
    (replies) => {
      expect(said(replies)).toEqual({ text: '', isCut: true });
    },
  );

  it('is answered under the id of the request that was arriving, which is told', () => {
    const { text } = said([SENT, atWork('not_begun', 'first'), atWork('not_begun', 'second')]);
    expect(text).toContain('"request_id":"second"');
    expect(answered.at(-1)).toBe('second invalid_request');
  });
});
