import type { AnyDomainEvent } from '@sparkroom/contract';
import { type Expectation, expectationsOf } from './expectations.ts';

/** Milliseconds after an event at which every tier is read. */
export const windows = [50, 1_000, 5_000, 60_000] as const;
export type Window = (typeof windows)[number];

export const labelOf = (window: Window): string => (window < 1000 ? `${window}ms` : `${window / 1000}s`);

/** A way to the public reads. */
export interface Tier {
  name: string;
  /** The one person this way can read as; undefined: anybody. */
  as?: string | undefined;
  /** @returns the answer; null where the reader has no right. @throws when it could not be had */
  read(expectation: Expectation): Promise<unknown>;
}

/**
 * - `coherent`: the answer shows the event, or a later change that the database has too;
 * - `undecided`: the answer does not tell (another page, no right, more changes than checks);
 * - `unreadable`: the tier or the database did not answer;
 * - `incoherent`: the answer is older than the database.
 */
export type Verdict = 'coherent' | 'undecided' | 'unreadable' | 'incoherent';

export interface CheckerOptions {
  tiers: readonly Tier[];
  /** Reads past every cache. */
  truth: Tier['read'];
  report(result: {
    window: Window;
    tier: string;
    verdict: Verdict;
    event: AnyDomainEvent;
    expectation: Expectation;
  }): void;
  /** Events whose checks wait at most; more are not checked. Default 2,000. */
  most?: number;
}

export interface Checker {
  /** Plans the checks of an event that has just come by. @returns false when too many wait */
  watch(event: AnyDomainEvent): boolean;
  /** Events whose checks wait. */
  readonly waiting: number;
  /** Drops what waits and ends what runs. */
  stop(): Promise<void>;
}

/** Reads at once; checking must not be a load of its own. */
const MOST_RUNNING = 4;

/**
 * Looks from outside whether what is served follows what happened: after each event it reads the public procedures
 * through every tier, four times. Only where an answer does not show the event the database is asked, once.
 */
export function createChecker(options: CheckerOptions): Checker {
  const { tiers, truth, report, most = 2_000 } = options;
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  const queue: Array<() => Promise<void>> = [];
  let stopped = false;

  function pump(): void {
    while (!stopped && running.size < MOST_RUNNING) {
      const next = queue.shift();
      if (!next) return;
      const run = next().finally(() => {
        running.delete(run);
        pump();
      });
      running.add(run);
    }
  }

  async function check(event: AnyDomainEvent, expectation: Expectation, tier: Tier, window: Window) {
    const verdict = await judge(expectation, tier, truth).catch((): Verdict => 'unreadable');
    if (!stopped) report({ window, tier: tier.name, verdict, event, expectation });
  }

  return {
    get waiting() {
      return timers.size / windows.length;
    },
    watch(event) {
      const expectations = expectationsOf(event);
      if (expectations.length === 0) return true;
      if (stopped || timers.size >= most * windows.length) return false;
      for (const window of windows) {
        const timer = setTimeout(() => {
          timers.delete(timer);
          for (const tier of tiers) {
            for (const expectation of expectations) {
              if (tier.as === undefined || tier.as === expectation.userId)
                queue.push(() => check(event, expectation, tier, window));
            }
          }
          pump();
        }, window);
        timers.add(timer);
      }
      return true;
    },
    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      queue.length = 0;
      await Promise.all(running);
    },
  };
}

/** Compares what a tier answers with the event, and in doubt with the database. */
export async function judge(expectation: Expectation, tier: Tier, truth: Tier['read']): Promise<Verdict> {
  const answer = await tier.read(expectation);
  const shows = expectation.shows(answer);
  if (shows === null) return 'undecided';
  if (shows) return 'coherent';
  const now = await truth(expectation);
  const right = expectation.shows(now);
  // A later change has hidden the event in the database too; was the answer read before that, or is it older still?
  if (right !== true) return same(answer, now) ? 'coherent' : 'undecided';
  // The database shows the event. Read again: the tier may have followed, or a change may have come and gone.
  const again = await tier.read(expectation);
  return expectation.shows(again) === false ? 'incoherent' : 'coherent';
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
