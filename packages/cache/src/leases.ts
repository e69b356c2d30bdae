import { LRUCache } from 'lru-cache';

/** Milliseconds a version may be taken for the present one, whatever the feed says: the bound when all else fails. */
const LEASE_MS = 5_000;
/** Milliseconds without a heartbeat after which the feed is late and no lease counts. */
const LATE_MS = 2_500;
const MOST = 50_000;

/**
 * Versions of collections that this process believes to be the present ones, so that it need not ask the store.
 *
 * A feed of the stream of events drops them: a change is seen here as soon as its event is. Nothing is believed while
 * the feed is late (no heartbeat for 2.5 s), and nothing for longer than 5 s, which also bounds what a relay that
 * stands still can do. So an answer on the ground of a lease is at most 5 s old, usually some milliseconds.
 */
export interface Leases {
  /** The version, if it is believed now. */
  get(key: string): number | undefined;
  /** Taken before a version is read from the store; makes {@link grant} refuse what an event has overtaken. */
  begin(): number;
  /** Believes a version that was read from the store after `begun`. */
  grant(key: string, version: number, begun: number): void;
  /**
   * Ends a lease because what it stands for has changed.
   * @param committedAt when, in milliseconds since 1970 (the database's clock), to count answers given since
   */
  drop(key: string, committedAt?: number): void;
  /** The feed has brought all that the stream had at `at` (`performance.now()`). */
  beat(at: number): void;
  /** The feed broke or jumped: what it would have dropped is unknown. Ends all leases; needs a new beat. */
  interrupted(): void;
  figures(): { held: number; fresh: boolean; beatAgeMs: number; served: number; servedStale: number };
}

interface Lease {
  version: number;
  /** `performance.now()` of the reading. */
  since: number;
  servedAt: number;
}

export function createLeases(clock: () => number = () => performance.now()): Leases {
  const held = new LRUCache<string, Lease>({ max: MOST });
  /** When each key was last dropped, on the counter of drops; forgotten ones are no later than `floor`. */
  const dropped = new LRUCache<string, number>({
    max: MOST,
    dispose: (drop, _key, reason) => {
      if (reason === 'evict') floor = Math.max(floor, drop);
    },
  });
  let floor = 0;
  let drops = 0;
  let lastBeat = Number.NEGATIVE_INFINITY;
  let served = 0;
  let servedStale = 0;
  const fresh = () => clock() - lastBeat <= LATE_MS;

  return {
    get(key) {
      const lease = held.get(key);
      const now = clock();
      if (!lease || !fresh() || now - lease.since > LEASE_MS) return undefined;
      lease.servedAt = Date.now();
      served++;
      return lease.version;
    },
    begin: () => drops,
    grant(key, version, begun) {
      if (begun < Math.max(floor, dropped.get(key) ?? 0)) return;
      const lease = held.get(key);
      if (lease && lease.version > version) return;
      held.set(key, { version, since: clock(), servedAt: 0 });
    },
    drop(key, committedAt) {
      const lease = held.get(key);
      if (lease && committedAt !== undefined && lease.servedAt > committedAt) servedStale++;
      held.delete(key);
      dropped.set(key, ++drops);
    },
    beat(at) {
      lastBeat = Math.max(lastBeat, at);
    },
    interrupted() {
      held.clear();
      floor = ++drops;
      lastBeat = Number.NEGATIVE_INFINITY;
    },
    figures: () => ({
      held: held.size,
      fresh: fresh(),
      beatAgeMs: lastBeat === Number.NEGATIVE_INFINITY ? Number.POSITIVE_INFINITY : clock() - lastBeat,
      served,
      servedStale,
    }),
  };
}
