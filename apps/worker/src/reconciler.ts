import type { Log } from '@sparkroom/events';
import type { Registrations } from '@sparkroom/mysql';
import { type ProjectionStores, projectBodies } from './projection.ts';

/** Milliseconds after which a waiting text is taken for forgotten. */
const forgottenMs = 10_000;
const most = 200;

/**
 * Finishes what was left over although its event is gone: texts that still wait are projected again, accounts that
 * nobody announced are announced. The stores must agree again whatever was lost on the way.
 * @returns how many texts and accounts were finished
 */
export async function reconcile(
  stores: ProjectionStores & { users: Pick<Registrations, 'announceMissing'> },
  log: Log,
  signal: AbortSignal,
): Promise<{ bodies: number; users: number }> {
  let bodies = 0;
  const seen = new Set<string>();
  for (const { kind, id } of await stores.bodies.stale(forgottenMs, most)) {
    if (signal.aborted) break;
    if (seen.has(`${kind} ${id}`)) continue;
    seen.add(`${kind} ${id}`);
    try {
      const done = await projectBodies(stores, kind, id, Number.MAX_SAFE_INTEGER, signal);
      if (done !== null) bodies++;
      // Waits, and yet is not there for a projector: it belongs to something that was removed.
      else await stores.bodies.discard(kind, id);
    } catch (error) {
      // One that cannot be stored must not keep the others waiting.
      log.warn(
        { kind, id, error: error instanceof Error ? error.message : String(error) },
        'text still waits',
      );
    }
  }
  const users = await stores.users.announceMissing(most);
  if (bodies > 0 || users > 0) log.info({ bodies, users }, 'reconciler finished what was left over');
  return { bodies, users };
}
