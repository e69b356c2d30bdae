import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

/** Work that ends when told, and the order in which it began. */
function bench(queue: FairQueue) {
  const begun: string[] = [];
  const ends: Array<() => void> = [];
  const run = (key: string, name = key) =>
    queue.run(key, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
  const endOne = async () => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, run, endOne };
}

test('whoever sends many waits for themselves', async () => {
  const { begun, run, endOne } = bench(new FairQueue({ size: 2, perKey: 100, deadlineMs: 10_000 }));
  const all = Array.from({ length: 20 }, (_, i) => run('flood', `flood${i}`));
  all.push(run('ana'), run('ben'), run('ana', 'ana2'));
  await endOne();
  await endOne();
  await endOne();
  await endOne();
  expect(begun.slice(0, 2)).toEqual(['flood0', 'flood1']);
  expect(begun.slice(2, 6).sort()).toEqual(['ana', 'ben', 'flood2', 'flood3'].sort());
  while (begun.length < 23) await endOne();
  while (all.length) {
    await endOne();
    all.pop();
  }
  expect(new Set(begun).size).toBe(23);
});

test('never more than its size run, also when work fails', async () => {
  const queue = new FairQueue({ size: 3, perKey: 100, deadlineMs: 10_000 });
  let running = 0;
  let most = 0;
  await Promise.allSettled(
    Array.from({ length: 60 }, (_, i) =>
      queue.run(`k${i % 7}`, async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        if (i % 3 === 0) throw new Error('no');
      }),
    ),
  );
  expect([most, running]).toEqual([3, 0]);
});

test('one key has a bound, and nobody waits for ever', async () => {
  const { run, endOne, begun } = bench(new FairQueue({ size: 1, perKey: 1, deadlineMs: 30 }));
  const first = run('a', 'first');
  const second = run('a', 'second');
  await expect(run('a', 'third')).rejects.toMatchObject({ refusal: 'full' });
  await expect(second).rejects.toMatchObject({ refusal: 'deadline' });
  const fourth = run('a', 'fourth');
  await endOne();
  await first;
  await endOne();
  await fourth;
  expect(begun).toEqual(['first', 'fourth']);
});
