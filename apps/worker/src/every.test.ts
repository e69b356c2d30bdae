import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { every } from './every.ts';

const quiet = { debug() {}, info() {}, warn: vi.fn(), error() {} };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('every', () => {
  it('begins soon, goes on after a failure, and never runs twice at once', async () => {
    let runs = 0;
    let release: () => void = () => {};
    const job = every(10_000, 'job', quiet, async () => {
      if (++runs === 1) throw new Error('no luck');
      if (runs === 2)
        await new Promise<void>((resolve) => {
          release = resolve;
        });
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(runs).toBe(1);
    expect(quiet.warn).toHaveBeenCalledWith({ job: 'job', error: 'no luck' }, 'job failed');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs).toBe(2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(runs).toBe(2);
    release();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs).toBe(3);
    await job.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(runs).toBe(3);
  });

  it('waits for the present run when it is stopped, and tells it', async () => {
    let told = false;
    const job = every(500, 'job', quiet, async (signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      told = true;
    });
    await vi.advanceTimersByTimeAsync(500);
    await job.stop();
    expect(told).toBe(true);
  });
});
