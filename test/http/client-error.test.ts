/**
 * What is said on a connection that broke: a problem where nothing is being sent, nothing where it would end up inside a
 * reply, whichever of several pipelined ones that is.
 */
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { answerClientError } from '../../src/http/client-error.js';

const SENDING = { headersSent: true, writableFinished: false } as ServerResponse;
const NOT_BEGUN = { headersSent: false, writableFinished: false } as ServerResponse;
const SENT = { headersSent: true, writableFinished: true } as ServerResponse;

/** All that is written on a socket with these replies at work, and whether it was cut. */
function said(replies: readonly ServerResponse[]): { readonly text: string; readonly isCut: boolean } {
  const socket = new PassThrough();
  answerClientError({ code: 'HPE_INVALID_METHOD' }, socket as unknown as Socket, replies);
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
});
