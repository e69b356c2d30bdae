import { type Cloudant, CloudantBodyError, CloudantError } from '@sparkroom/cloudant';
import { type BodyKind, type BodyProjection, isTransient, type Mysql, pendingBodies } from '@sparkroom/mysql';
import { StoreUnavailableError } from '@sparkroom/pools';

export interface ProjectionStores {
  mysql: Pick<Mysql, 'db'>;
  bodies: BodyProjection;
  cloudant: { bodies: Pick<Cloudant['bodies'], 'apply' | 'remove'> };
}

/**
 * Carries the waiting texts of one idea or guidance, up to `upTo`, from MySQL into Cloudant, then confirms them.
 *
 * All of them, oldest first, because confirming one drops the earlier ones and the history needs each. Every step can
 * be repeated, and repeated beside itself: Cloudant refuses what is not newer, confirming twice does nothing. A crash
 * between any two leaves the waiting texts where they are.
 * @returns the highest version confirmed; null when nothing waits (done before, or removed)
 * @throws StoreUnavailableError when a store is away
 */
export async function projectBodies(
  stores: ProjectionStores,
  kind: BodyKind,
  id: string,
  upTo: number,
  signal?: AbortSignal,
): Promise<number | null> {
  return await asOutage(async () => {
    const waiting = (await pendingBodies(stores.mysql.db, kind, [id])).get(id);
    const versions = [...(waiting?.keys() ?? [])].filter((version) => version <= upTo).sort((a, b) => a - b);
    let done: number | null = null;
    for (const version of versions) {
      const text = await stores.bodies.pending(kind, id, version);
      // Confirmed by somebody else since, or the idea was removed: then no text of it may come back.
      if (!text) continue;
      const { workspaceId, body } = text;
      await stores.cloudant.bodies.apply(
        { id, type: kind, workspaceId, version, body },
        signal ? { signal } : {},
      );
      done = version;
    }
    if (done !== null) await stores.bodies.confirm(kind, id, done);
    return done;
  });
}

/** Leaves a tombstone in Cloudant, which refuses texts that come late, and drops what still waits. */
export async function removeBody(
  stores: ProjectionStores,
  kind: BodyKind,
  id: string,
  version: number,
  signal?: AbortSignal,
): Promise<void> {
  await asOutage(async () => {
    await stores.cloudant.bodies.remove(id, version, signal ? { signal } : {});
    await stores.bodies.discard(kind, id);
  });
}

/**
 * Only a text that Cloudant refuses for its own sake is poison. Wrong credentials, a missing database, conflicts
 * without end, answers that break off and deadlocks are trouble of a store: the text waits until it is over.
 */
export async function asOutage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const refused = error instanceof CloudantError && (error.statusCode === 400 || error.statusCode === 413);
    if (!refused && (error instanceof CloudantError || error instanceof CloudantBodyError))
      throw new StoreUnavailableError('cloudant', { cause: error });
    if (isTransient(error)) throw new StoreUnavailableError('mysql', { cause: error });
    throw error;
  }
}
