/** What a registry's schema that cannot be compiled, or not in its time, is refused with. */
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/core/error-codes.js';
import { checkSchemas } from '../../src/run/check-schemas.js';

const SCHEMAS = [{ id: 1, file: '1.shop.Order.proto', bytes: 400_000 }];

function refusalOf(problem: Problem): Promise<unknown> {
  return checkSchemas({ run: async () => ({ problem }) }, SCHEMAS).catch((thrown: unknown) => thrown);
}

describe('the check of a registry', () => {
  it('blames the schema, with its file and the limit, where its worker ran out of time', async () => {
    const problem: Problem = { code: 'backend', retryable: true, detail: 'The work took longer.', limit: 2763 };
    expect(await refusalOf(problem)).toMatchObject({
      code: 'invalid_request',
      problem: { detail: expect.stringMatching(/^1\.shop\.Order\.proto: .*2763 ms/), limit: 2763 },
    });
  });

  it('leaves a worker that was lost a fault of the service', async () => {
    const problem: Problem = { code: 'backend', retryable: true, detail: 'The worker was lost.' };
    expect(await refusalOf(problem)).toMatchObject({ code: 'backend', problem: { retryable: true } });
  });
});
