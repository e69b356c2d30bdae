import { expect, test } from 'vitest';
import { Observer } from './staleness.ts';

const read = (versions: [string, number][], at: number) => ({ at, versions: new Map(versions) });

test('a read is stale by the first change it lacks, and every change it lacks was late', () => {
  const observer = new Observer();
  observer.begin();
  const t = performance.now();
  for (const [version, at] of [
    [1, t],
    [2, t + 100],
    [3, t + 150],
  ] as const)
    observer.acknowledged('ideas', 0, version, at);
  observer.seen(read([['ideas 0', 3]], t + 200), 'ideas', 0, 0, 1);
  observer.seen(read([['ideas 0', 3]], t + 210), 'ideas', 0, 1, 3);
  const figures = observer.end();
  expect(figures).toMatchObject({ reads: 2, stale: 1, staleMs: { count: 1, max: 100 } });
  expect(figures.coherentMs).toMatchObject({ count: 3, p50: 50, max: 100 });
  expect(figures.byKind.ideas).toMatchObject({ reads: 2, stale: 1 });
});

test('what was acknowledged only while a read was under way is not held against it', () => {
  const observer = new Observer();
  observer.acknowledged('counts', 1, 7, performance.now());
  const before = observer.expect(['counts']);
  observer.acknowledged('counts', 1, 8, performance.now());
  observer.seen(before, 'counts', 1, 0, 7);
  expect(observer.stale).toBe(0);
  observer.seen(observer.expect(['counts']), 'counts', 1, 0, 7);
  expect(observer.stale).toBe(1);
});

test('only the writes of a phase are its writes', () => {
  const observer = new Observer();
  observer.acknowledged('ideas', 0, 1, performance.now() - 10);
  observer.begin();
  observer.acknowledged('ideas', 0, 2, performance.now() + 1);
  expect(observer.end().coherentMs.count).toBe(1);
});
