import { setTimeout as pause } from 'node:timers/promises';
import { openCache } from '@sparkroom/cache';
import { openCloudant } from '@sparkroom/cloudant';
import { connectEvents, type Log } from '@sparkroom/events';
import { isMigrated, type Mysql, openMysql } from '@sparkroom/mysql';
import { StoreUnavailableError } from '@sparkroom/pools';
import { serveHealth } from './http.ts';
import { WorkerMetrics } from './metrics.ts';
import type { Role, RoleContext, Stores } from './role.ts';
import { cacheRole } from './roles/cache.ts';
import { coherenceRole } from './roles/coherence.ts';
import { projectorRole } from './roles/projector.ts';
import { relayRole } from './roles/relay.ts';
import type { RoleName, WorkerSettings } from './settings.ts';

const starters: Record<RoleName, (context: RoleContext) => Role> = {
  relay: relayRole,
  projector: projectorRole,
  cache: cacheRole,
  coherence: coherenceRole,
};

/** Stores each role cannot work without. */
const needs: Record<RoleName, readonly (keyof Stores)[]> = {
  relay: ['mysql', 'events'],
  projector: ['mysql', 'events', 'cloudant'],
  cache: ['mysql', 'events', 'cache'],
  coherence: ['mysql', 'events', 'cloudant', 'cache'],
};

/** Names of the stores as people know them. */
const storeNames: Record<keyof Stores, string> = {
  mysql: 'mysql',
  events: 'nats',
  cloudant: 'cloudant',
  cache: 'redis',
};

const pingMs = 2_000;

export interface Worker {
  /** Port of health and metrics. */
  port: number;
  /** Resolves when all roles are at work. */
  working: Promise<void>;
  /** Drains and closes everything. */
  stop(): Promise<void>;
}

/**
 * Starts a worker. Health answers at once; the roles begin when their stores do, however long that takes.
 * @throws Error when the port for health is taken
 */
export async function startWorker(settings: WorkerSettings, log: Log): Promise<Worker> {
  const metrics = new WorkerMetrics();
  const stopping = new AbortController();
  const stores: Partial<Stores> = {};
  const roles: Role[] = [];
  const wanted = [...new Set(settings.roles.flatMap((role) => needs[role]))];

  const http = await serveHealth(settings.host, settings.port, {
    metrics: () => metrics.text(),
    async unready() {
      const failing = await Promise.all(
        wanted.map(async (name) => ((await answers(stores, name)) ? [] : [storeNames[name]])),
      );
      return roles.length === settings.roles.length ? failing.flat() : [...failing.flat(), 'roles'];
    },
  });
  log.info({ port: http.port, host: settings.host, roles: settings.roles }, 'worker started');

  /** Tries until it succeeds or the worker stops. @returns undefined when it stops */
  async function insist<T>(what: string, open: () => Promise<T>): Promise<T | undefined> {
    for (let attempt = 0; !stopping.signal.aborted; attempt++) {
      try {
        return await open();
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        if (attempt === 0) log.warn({ what, error: error.message }, 'waiting for a store');
        await pause(500, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  const working = (async (): Promise<void> => {
    const mysql = await insist('mysql', () => openMysql(settings.mysql));
    if (!mysql) return;
    stores.mysql = mysql;
    await insist('schema', () => sureSchema(mysql));
    const events = await insist('nats', () => connectEvents({ ...settings.events, connectMs: 3_000 }, log));
    if (!events) return;
    stores.events = events;
    await insist('stream', () => events.ensureStream());
    const cloudant = openCloudant(settings.cloudant);
    stores.cloudant = cloudant;
    const cache = openCache(settings.cache, (error) => log.debug({ error: error.message }, 'redis'));
    stores.cache = cache;
    if (stopping.signal.aborted) return;
    for (const name of settings.roles) {
      const role = starters[name]({ mysql, events, cloudant, cache, log, metrics, settings });
      roles.push(role);
    }
    metrics.watchConsumers(roles.flatMap((role) => role.consumers));
    log.info({ roles: settings.roles }, 'at work');
  })();

  return {
    port: http.port,
    working,
    async stop() {
      stopping.abort();
      await working.catch(() => undefined);
      await Promise.allSettled(roles.map((role) => role.stop()));
      await stores.events?.close();
      // A store that is away may fail to say goodbye.
      await Promise.allSettled([stores.cloudant?.close(), stores.mysql?.close(), stores.cache?.close()]);
      await http.close();
    },
  };
}

/** @throws StoreUnavailableError while the tables are not what this program needs */
async function sureSchema(mysql: Mysql): Promise<void> {
  let fits: boolean;
  try {
    fits = await isMigrated(mysql.db);
  } catch (error) {
    throw new StoreUnavailableError('mysql', { cause: error });
  }
  if (!fits)
    throw new StoreUnavailableError('mysql', { detail: 'its tables are older than this program: migrate' });
}

async function answers(stores: Partial<Stores>, name: keyof Stores): Promise<boolean> {
  const signal = AbortSignal.timeout(pingMs);
  const late = new Promise<false>((resolve) => {
    signal.addEventListener('abort', () => resolve(false), { once: true });
  });
  const store = stores[name];
  if (!store) return false;
  const ping = Promise.resolve(store.ping(signal)).then(
    () => true,
    () => false,
  );
  return await Promise.race([ping, late]);
}
