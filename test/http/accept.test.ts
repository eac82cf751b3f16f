/** Content negotiation as a function: which form a client gets for what it says it accepts. */
import { describe, expect, it } from 'vitest';
import {
  Accept,
  acceptsAnyScanReply,
  JSON_TYPE,
  MSGPACK_FRAMES_TYPE,
  MSGPACK_TYPE,
  NDJSON_TYPE,
  objectReplyType,
  scanReplyForm,
} from '../../src/http/accept.js';

describe('quality', () => {
  it.each([
    [undefined, 1],
    ['*/*', 1],
    ['application/*;q=0.5', 0.5],
    ['application/json;q=0.2, application/*', 0.2],
    ['application/json; charset=utf-8 ; q=0.3', 0.3],
    ['APPLICATION/JSON', 1],
    ['text/html', 0],
    ['', 0],
    ['application/json;q=2', 0],
    ['application/json;q=x', 0],
    ['nonsense, application/json', 1],
  ])('of JSON under %j is %d', (header, quality) => {
    expect(new Accept(header).qualityOf(JSON_TYPE)).toBe(quality);
  });
});

describe('the form of a scan', () => {
  it.each([
    // accept, single page possible, type
    [undefined, true, JSON_TYPE],
    [undefined, false, NDJSON_TYPE],
    [MSGPACK_TYPE, true, MSGPACK_TYPE],
    [MSGPACK_TYPE, false, undefined],
    [JSON_TYPE, false, undefined],
    [NDJSON_TYPE, true, NDJSON_TYPE],
    [MSGPACK_FRAMES_TYPE, false, MSGPACK_FRAMES_TYPE],
    [`${MSGPACK_FRAMES_TYPE};q=0.9, ${NDJSON_TYPE}`, false, NDJSON_TYPE],
    [`${MSGPACK_FRAMES_TYPE}, ${NDJSON_TYPE}`, false, MSGPACK_FRAMES_TYPE],
    [`${NDJSON_TYPE};q=0, */*`, true, JSON_TYPE],
    [`${NDJSON_TYPE};q=0, */*`, false, MSGPACK_FRAMES_TYPE],
    ['text/*', true, undefined],
  ])('under %j, single page possible: %s, is %s', (header, isSinglePage, type) => {
    const form = scanReplyForm(new Accept(header), isSinglePage);
    expect(form?.type).toBe(type);
    if (form !== undefined) {
      expect(form.framed).toBe(type === NDJSON_TYPE || type === MSGPACK_FRAMES_TYPE);
      expect(form.encoding).toBe(type === JSON_TYPE || type === NDJSON_TYPE ? 'json' : 'msgpack');
    }
  });

  it('is known to be impossible before the body only where no form at all is acceptable', () => {
    expect(acceptsAnyScanReply(new Accept('text/html'))).toBe(false);
    for (const type of [JSON_TYPE, MSGPACK_TYPE, NDJSON_TYPE, MSGPACK_FRAMES_TYPE]) {
      expect(acceptsAnyScanReply(new Accept(type))).toBe(true);
    }
  });
});

it('one object is JSON unless MessagePack is wanted more', () => {
  expect(objectReplyType(new Accept(undefined))).toBe(JSON_TYPE);
  expect(objectReplyType(new Accept(`${JSON_TYPE};q=0.5, ${MSGPACK_TYPE}`))).toBe(MSGPACK_TYPE);
  expect(objectReplyType(new Accept(NDJSON_TYPE))).toBeUndefined();
});
