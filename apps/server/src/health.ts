import { isMigrated } from '@sparkroom/mysql';
import { StoreUnavailableError } from '@sparkroom/pools';
import type { FastifyInstance } from 'fastify';
import type { Stores } from './stores.ts';

const DEADLINE_MS = 2000;

/** `/healthz`: this process lives. `/readyz`: every store answers and the schema is this program's; else 503 and which. */
export function registerHealth(app: FastifyInstance, stores: Stores, draining: () => boolean): void {
  let migrated = false;

  app.get('/healthz', async () => ({ status: 'ok' }));

  app.get('/readyz', async (_request, reply) => {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const checks: Record<string, () => Promise<unknown>> = {
      mysql: () => stores.mysql.ping(),
      migrations: async () => {
        try {
          migrated ||= await isMigrated(stores.mysql.db);
        } catch (error) {
          // Nothing is known of the schema of a database that is away, which the line above says.
          if (error instanceof StoreUnavailableError) return;
          throw error;
        }
        if (!migrated) throw new Error('The schema is older than this program');
      },
      cloudant: () => stores.cloudant.ping(signal),
      redis: () => stores.cache.ping(),
      nats: () => stores.events.ping(signal),
    };
    const names = Object.keys(checks);
    const results = await Promise.allSettled(names.map((name) => before(checks[name]?.(), signal)));
    const failing = names.filter((_, i) => results[i]?.status === 'rejected');
    if (draining()) failing.push('draining');
    reply.code(failing.length === 0 ? 200 : 503);
    return { status: failing.length === 0 ? 'ready' : 'unavailable', failing };
  });
}

function before<T>(work: Promise<T> | undefined, signal: AbortSignal): Promise<T | undefined> {
  return Promise.race([
    Promise.resolve(work),
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('No answer in time')), { once: true });
    }),
  ]);
}
