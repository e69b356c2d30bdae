import { CloudantBodyError, CloudantError } from '@sparkroom/cloudant';
import { StoreUnavailableError } from '@sparkroom/pools';
import { describe, expect, it } from 'vitest';
import { asOutage } from './projection.ts';

const failing = (error: unknown): Promise<unknown> =>
  asOutage(() => Promise.reject(error)).catch((caught: unknown) => caught);

describe('what counts as an outage', () => {
  it.each([401, 403, 404, 409, 500])('a %i of Cloudant waits for better times', async (statusCode) => {
    const error = new CloudantError({ statusCode, headers: {} }, 'error', 'reason');
    expect(await failing(error)).toMatchObject({ store: 'cloudant', cause: error });
  });

  it.each([400, 413])('a %i is the text’s own fault', async (statusCode) => {
    const error = new CloudantError({ statusCode, headers: {} }, 'error', 'reason');
    expect(await failing(error)).toBe(error);
  });

  it('a cut-off answer and a deadlock wait, a mistake in the program does not', async () => {
    expect(await failing(new CloudantBodyError({ statusCode: 201, headers: {} }))).toMatchObject({
      store: 'cloudant',
    });
    expect(await failing(Object.assign(new Error('deadlock'), { errno: 1213 }))).toMatchObject({
      store: 'mysql',
    });
    const away = new StoreUnavailableError('mysql');
    expect(await failing(away)).toBe(away);
    const mistake = new TypeError('x');
    expect(await failing(mistake)).toBe(mistake);
  });
});
