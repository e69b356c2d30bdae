import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deadlineIn, Gate, GateRefusedError } from './gate.ts';

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('Gate', () => {
  it('lets at most its size in and the rest in the order they came', async () => {
    const gate = new Gate({ name: 't', size: 2 });
    const first = await gate.acquire();
    const second = await gate.acquire();
    const order: string[] = [];
    const a = gate.run(() => order.push('a'));
    const b = gate.run(() => order.push('b'));
    await tick();
    expect(order).toEqual([]);
    expect(gate.stats()).toMatchObject({ size: 2, busy: 2, waiting: 2 });
    first.release();
    await Promise.all([a, b]);
    expect(order).toEqual(['a', 'b']);
    second.release();
    expect(gate.stats()).toMatchObject({ busy: 0, waiting: 0, done: 4 });
  });

  it('gives a freed place to the waiter, not to a newcomer', async () => {
    const gate = new Gate({ name: 't', size: 1 });
    const held = await gate.acquire();
    const order: string[] = [];
    const waiter = gate.run(() => order.push('waiter'));
    held.release();
    const newcomer = gate.run(() => order.push('newcomer'));
    await Promise.all([waiter, newcomer]);
    expect(order).toEqual(['waiter', 'newcomer']);
  });

  it('refuses a waiter at its deadline, and one whose deadline has passed, without running it', async () => {
    const gate = new Gate({ name: 'store', size: 1 });
    const held = await gate.acquire();
    let ran = false;
    const began = performance.now();
    const refused = await gate.run(() => (ran = true), { deadline: deadlineIn(30) }).catch((error) => error);
    expect(performance.now() - began).toBeGreaterThanOrEqual(30);
    expect(refused).toBeInstanceOf(GateRefusedError);
    expect(refused).toMatchObject({
      refusal: 'deadline',
      message: 'Gate store: no place became free before the deadline.',
    });
    held.release();
    await expect(gate.run(() => (ran = true), { deadline: deadlineIn(-1) })).rejects.toThrow(
      GateRefusedError,
    );
    expect(ran).toBe(false);
    expect(gate.stats()).toMatchObject({ busy: 0, waiting: 0, rejected: 2 });
  });

  it('lets an aborted waiter go with the reason, and does not interrupt one inside', async () => {
    const gate = new Gate({ name: 't', size: 1 });
    const inside = new AbortController();
    const held = await gate.acquire({ signal: inside.signal });
    inside.abort();
    const waiting = new AbortController();
    const refused = gate.run(() => 'ran', { signal: waiting.signal });
    waiting.abort(new Error('caller went away'));
    await expect(refused).rejects.toThrow('caller went away');
    await expect(gate.run(() => 'ran', { signal: waiting.signal })).rejects.toThrow('caller went away');
    expect(gate.stats()).toMatchObject({ busy: 1, waiting: 0, rejected: 2 });
    held.release();
  });

  it('refuses at once when the queue is at its bound', async () => {
    const gate = new Gate({ name: 't', size: 1, maxWaiting: 1 });
    const held = await gate.acquire();
    const waiter = gate.run(() => 'waited');
    await expect(gate.run(() => 'never')).rejects.toMatchObject({ refusal: 'full' });
    held.release();
    expect(await waiter).toBe('waited');
  });

  it('gives the place back when the work throws, and counts by tag', async () => {
    const gate = new Gate({ name: 't', size: 1 });
    const failing = () => {
      throw new Error('broken');
    };
    await expect(gate.run(failing, { tag: 'read' })).rejects.toThrow('broken');
    expect(await gate.run(() => 'fine', { tag: 'read' })).toBe('fine');
    expect(gate.stats()).toMatchObject({
      busy: 0,
      done: 2,
      errors: 1,
      byTag: { read: { done: 2, errors: 1 } },
    });
  });

  it('ignores a place given back twice', async () => {
    const gate = new Gate({ name: 't', size: 1 });
    const pass = await gate.acquire();
    pass.release();
    pass.release();
    expect(gate.stats()).toMatchObject({ busy: 0, done: 1 });
  });

  it('measures waiting and service time', async () => {
    const gate = new Gate({ name: 't', size: 1 });
    const held = await gate.acquire();
    const waiter = gate.run((pass) => pass.waitMs);
    const until = performance.now() + 20;
    while (performance.now() < until) await tick();
    held.release();
    expect(await waiter).toBeGreaterThanOrEqual(19);
    expect(gate.stats().serviceMs).toBeGreaterThanOrEqual(19);
  });

  it('lets waiters in when it grows and shrinks as places come back', async () => {
    const gate = new Gate({ name: 't', size: 1 });
    const first = await gate.acquire();
    const waiters = [gate.acquire(), gate.acquire()];
    gate.resize(3);
    const passes = await Promise.all(waiters);
    gate.resize(1);
    expect(gate.stats()).toMatchObject({ size: 1, busy: 3 });
    let entered = false;
    const late = gate.run(() => (entered = true));
    first.release();
    passes[0]?.release();
    await tick();
    expect(entered).toBe(false);
    passes[1]?.release();
    await late;
    expect(entered).toBe(true);
    expect(() => gate.resize(0)).toThrow(RangeError);
    expect(() => gate.resize(1.5)).toThrow(RangeError);
  });

  it('closes: refuses waiters and newcomers, waits for those inside', async () => {
    const gate = new Gate({ name: 't', size: 1 });
    const held = await gate.acquire();
    const waiter = gate.acquire();
    let closed = false;
    const closing = gate.close().then(() => (closed = true));
    await expect(waiter).rejects.toMatchObject({ refusal: 'closed' });
    await expect(gate.acquire()).rejects.toMatchObject({ refusal: 'closed' });
    await tick();
    expect(closed).toBe(false);
    held.release();
    await closing;
    await gate.close();
  });
});

type Command =
  | { kind: 'come'; failing: boolean; deadline: boolean }
  | { kind: 'finish'; which: number }
  | { kind: 'abort'; which: number }
  | { kind: 'resize'; size: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('come' as const),
      failing: fc.boolean(),
      deadline: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('finish' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), which: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('resize' as const), size: fc.integer({ min: 1, max: 6 }) }),
  },
);

describe('Gate, under any sequence of comings, endings, aborts and resizes', () => {
  it('never lets in more than its size, keeps the order, loses no waiter', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(command, { maxLength: 60 }),
        async (size, commands) => {
          const gate = new Gate({ name: 't', size });
          let limit = size;
          let next = 0;
          const entered: number[] = [];
          const inside = new Map<number, () => void>();
          const aborts = new Map<number, AbortController>();
          const gone = new Set<number>();
          const outcomes: Promise<unknown>[] = [];

          const come = (failing: boolean, deadline: boolean) => {
            const me = next++;
            const controller = new AbortController();
            aborts.set(me, controller);
            const work = () => {
              // Entering is only allowed while there is room under the limit that holds now.
              expect(gate.stats().busy).toBeLessThanOrEqual(Math.max(limit, inside.size));
              expect(inside.size).toBeLessThan(limit);
              entered.push(me);
              return new Promise<void>((resolve, reject) => {
                inside.set(me, () => (failing ? reject(new Error('work failed')) : resolve()));
              });
            };
            outcomes.push(
              gate
                .run(work, {
                  signal: controller.signal,
                  ...(deadline ? { deadline: deadlineIn(60_000) } : {}),
                })
                .catch((error: Error) => {
                  if (error.message !== 'work failed' && error.message !== 'gone') throw error;
                }),
            );
          };
          const finish = (me: number) => {
            const end = inside.get(me);
            inside.delete(me);
            end?.();
          };

          for (const step of commands) {
            if (step.kind === 'come') come(step.failing, step.deadline);
            else if (step.kind === 'finish')
              finish([...inside.keys()][step.which % Math.max(1, inside.size)] ?? -1);
            else if (step.kind === 'resize') {
              limit = step.size;
              gate.resize(limit);
            } else if (next > 0) {
              const me = step.which % next;
              if (!entered.includes(me)) gone.add(me);
              aborts.get(me)?.abort(new Error('gone'));
            }
            await tick();
            const stats = gate.stats();
            expect(stats.busy).toBe(inside.size);
            // Nobody waits while there is room.
            if (stats.waiting > 0) expect(stats.busy).toBeGreaterThanOrEqual(limit);
          }
          while (inside.size > 0) {
            for (const me of [...inside.keys()]) finish(me);
            await tick();
          }
          await Promise.all(outcomes);

          expect(entered).toEqual([...entered].sort((a, b) => a - b));
          expect(entered.length + gone.size).toBe(next);
          expect(gate.stats()).toMatchObject({
            busy: 0,
            waiting: 0,
            done: entered.length,
            rejected: gone.size,
          });
        },
      ),
      { numRuns: 200 },
    );
  });

  it('refuses every waiter by its own deadline, none before, and lets the others in', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(fc.integer({ min: 1, max: 25 })), { maxLength: 15 }),
        async (delays) => {
          const gate = new Gate({ name: 't', size: 1 });
          const held = await gate.acquire();
          const order: number[] = [];
          const patient: Promise<unknown>[] = [];
          const hasty: Promise<void>[] = [];
          delays.forEach((delay, me) => {
            if (delay === null) {
              patient.push(gate.run(() => order.push(me)));
              return;
            }
            const deadline = deadlineIn(delay);
            hasty.push(
              expect(gate.run(() => order.push(me), { deadline }))
                .rejects.toMatchObject({ refusal: 'deadline' })
                .then(() => expect(performance.now()).toBeGreaterThanOrEqual(deadline)),
            );
          });
          await Promise.all(hasty);
          held.release();
          await Promise.all(patient);
          expect(order).toEqual(delays.flatMap((delay, me) => (delay === null ? [me] : [])));
        },
      ),
      { numRuns: 25 },
    );
  });
});
