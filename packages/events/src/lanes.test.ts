import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lanes } from './lanes.ts';

describe('Lanes', () => {
  it('keeps order within a key, never runs one key twice or more than the width, and loses nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), steps: fc.nat(3) }), {
          maxLength: 60,
        }),
        async (width, tasks) => {
          const lanes = new Lanes(width);
          const seen = new Map<string, number[]>();
          const busy = new Set<string>();
          for (const [index, { key, steps }] of tasks.entries())
            lanes.push(key, async () => {
              expect(busy.has(key)).toBe(false);
              busy.add(key);
              expect(busy.size).toBeLessThanOrEqual(width);
              for (let i = 0; i < steps; i++) await Promise.resolve();
              seen.set(key, [...(seen.get(key) ?? []), index]);
              busy.delete(key);
              if (index % 3 === 0) throw new Error('a failure must not stop the lane');
            });
          await lanes.idle();
          expect(lanes.pending).toBe(0);
          expect([...seen.values()].flat()).toHaveLength(tasks.length);
          for (const order of seen.values()) expect(order).toEqual(order.toSorted((a, b) => a - b));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('lets other keys pass one that waits', async () => {
    const lanes = new Lanes(2);
    let release: () => void = () => {};
    const done: string[] = [];
    lanes.push('slow', async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      done.push('slow');
    });
    lanes.push('slow', async () => void done.push('behind'));
    await new Promise<void>((resolve) => {
      lanes.push('other', async () => {
        done.push('other');
        resolve();
      });
    });
    expect(done).toEqual(['other']);
    release();
    await lanes.idle();
    expect(done).toEqual(['other', 'slow', 'behind']);
  });
});
