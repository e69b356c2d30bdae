import type { Cache, Cause, Family } from '@sparkroom/cache';
import { type Mysql, type Scope, type Touch, versionsOf } from '@sparkroom/mysql';
import { COUNTS, IDEAS, ME, MEMBERS, MY_CLIENTS, MY_WORKSPACES, RANKING } from './families.ts';

/** Name of the lease on a collection's version. */
export const leaseOf = (scope: Scope, id: string): string => `${scope}:${id}`;

type Versions = Record<'room' | 'rated' | 'own', number>;

/** Families that a workspace's collections are in, each with the version it is filed under. */
export const versionOf = {
  room: (v: Versions) => v.room,
  list: (v: Versions) => v.room + v.rated,
  personal: (v: Versions) => v.room + v.rated + v.own,
};

export type Invalidator = (touches: readonly Touch[], cause: Cause) => void;

/** Milliseconds in which changes are put together into one look at their versions. */
const GATHER_MS = 20;

/**
 * The fast path after a commit: this process forgets at once what it believed, and Redis is emptied a moment later.
 * Best effort, nobody waits for it and nothing depends on it: what is read is compared with a version from SQL. The
 * worker does it again from the event.
 */
export function invalidator(mysql: Mysql, cache: Cache): Invalidator {
  let waiting = new Map<string, { touch: Touch; cause: Cause }>();
  let running = false;

  async function flush(): Promise<void> {
    running = true;
    try {
      while (waiting.size > 0) {
        await new Promise((resolve) => setTimeout(resolve, GATHER_MS).unref());
        const batch = [...waiting.values()];
        waiting = new Map();
        await invalidateTouched(
          mysql,
          cache,
          batch.map(({ touch }) => touch),
          (touch) => batch.find((one) => one.touch === touch)?.cause ?? {},
        ).catch(() => {});
      }
    } finally {
      running = false;
    }
  }

  return (touches, cause) => {
    for (const touch of touches) {
      const lease = leaseOf(touch.scope, touch.id);
      cache.leases.drop(lease);
      waiting.set(lease, { touch, cause });
    }
    if (!running && waiting.size > 0) void flush();
  };
}

/**
 * Empties Redis of what is older than the present versions of some collections.
 * @throws StoreUnavailableError: do it again
 */
export async function invalidateTouched(
  mysql: Pick<Mysql, 'db'>,
  cache: Cache,
  touches: readonly Touch[],
  causeOf: (touch: Touch) => Cause,
): Promise<void> {
  const rooms = new Set<string>();
  const users = new Set<string>();
  for (const { scope, id } of touches) {
    if (scope === 'user') users.add(id);
    // What is one person's own is in memory only.
    else if (scope !== 'own') rooms.add(id);
  }
  const [room, rated, user] = await Promise.all([
    versionsOf(mysql.db, 'room', [...rooms]),
    versionsOf(mysql.db, 'rated', [...rooms]),
    versionsOf(mysql.db, 'user', [...users]),
  ]);
  const work: Promise<void>[] = [];
  const drop = (families: readonly Family[], id: string, version: number, touch: Touch) => {
    for (const family of families) work.push(cache.invalidate(family, id, version, causeOf(touch)));
  };
  for (const touch of touches) {
    const { scope, id } = touch;
    const versions = { room: room.get(id) ?? 0, rated: rated.get(id) ?? 0, own: 0 };
    if (scope === 'room') drop([COUNTS, MEMBERS], id, versionOf.room(versions), touch);
    if (scope === 'room' || scope === 'rated') drop([IDEAS, RANKING], id, versionOf.list(versions), touch);
    if (scope === 'user') drop([ME, MY_CLIENTS, MY_WORKSPACES], id, user.get(id) ?? 0, touch);
  }
  await Promise.all(work);
}
