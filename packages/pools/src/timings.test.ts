import { describe, expect, it } from 'vitest';
import { StoreUnavailableError } from './store-unavailable.ts';
import { currentTimings, recordTiming, Timings, withTimings } from './timings.ts';

const later = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('timings', () => {
  it('sums what is recorded anywhere below, also after awaits', async () => {
    const timings = await withTimings(async (mine) => {
      recordTiming('sql', 2);
      await later();
      await Promise.all([
        later().then(() => recordTiming('sql', 3)),
        later().then(() => recordTiming('redis', 1)),
      ]);
      return mine;
    });
    expect(timings.ms('sql')).toBe(5);
    expect(timings.count('sql')).toBe(2);
    expect(timings.toHeader()).toBe(
      'sql;dur=5.00, cloudant;queue;dur=0.00, cloudant;service;dur=0.00, redis;dur=1.00, cpu;dur=0.00',
    );
  });

  it('keeps requests that run at the same time apart', async () => {
    const one = async (ms: number) =>
      withTimings(async (mine) => {
        await later();
        recordTiming('cpu', ms);
        await later();
        return mine.ms('cpu');
      });
    expect(await Promise.all([one(1), one(10)])).toEqual([1, 10]);
  });

  it('does nothing outside a request', () => {
    recordTiming('sql', 1);
    expect(currentTimings()).toBeUndefined();
  });

  it('can be read after the request has failed', () => {
    const mine = new Timings();
    const failing = () =>
      withTimings(() => {
        recordTiming('sql', 4);
        throw new Error('broken');
      }, mine);
    expect(failing).toThrow('broken');
    expect(mine.ms('sql')).toBe(4);
  });
});

describe('StoreUnavailableError', () => {
  it('names the store and keeps the cause', () => {
    const cause = new Error('ECONNREFUSED');
    const error = new StoreUnavailableError('redis', { cause, detail: 'connection refused' });
    expect(error).toMatchObject({
      store: 'redis',
      cause,
      message: 'redis is not available: connection refused',
    });
  });
});
