import { type Cache, openCache, readCacheSettings } from '@sparkroom/cache';
import { type Cloudant, openCloudant, readCloudantSettings } from '@sparkroom/cloudant';
import { type Core, createCore, newId } from '@sparkroom/core';
import {
  connectEvents,
  type Events,
  type LiveFeed,
  openLiveFeed,
  readEventsSettings,
} from '@sparkroom/events';
import {
  type AuthDatabase,
  type Mysql,
  openAuthDatabase,
  openMysql,
  type Registrations,
  readMysqlSettings,
  usersOf,
} from '@sparkroom/mysql';
import type { Logger } from 'pino';
import { feedLeases } from './lease-feed.ts';

export interface Stores {
  mysql: Mysql;
  authDatabase: AuthDatabase;
  cloudant: Cloudant;
  cache: Cache;
  events: Events;
  live: LiveFeed;
  registrations: Registrations;
  core: Core;
  /** Closes everything, the live feed first. */
  close(): Promise<void>;
}

/**
 * Opens the four stores and the use cases over them.
 * @throws StoreUnavailableError naming the store that could not be reached
 */
export async function openStores(env: NodeJS.ProcessEnv, log: Logger): Promise<Stores> {
  const mysqlSettings = readMysqlSettings(env);
  const cloudant = openCloudant(readCloudantSettings(env));
  const cache = openCache(readCacheSettings(env), quietly(log, 'redis'));
  const closers: Array<() => unknown> = [() => cloudant.close(), () => cache.close()];
  try {
    const mysql = await openMysql(mysqlSettings);
    closers.unshift(() => mysql.close());
    const authDatabase = openAuthDatabase(mysql.flavour, mysqlSettings);
    closers.unshift(() => authDatabase.close());
    const events = await connectEvents(readEventsSettings(env, 'server'), log);
    closers.unshift(() => events.close());
    const live = openLiveFeed({ events, log });
    closers.unshift(() => live.close());
    const changes = feedLeases(cache.leases, events, log);
    closers.unshift(() => changes.close());
    const core = createCore({
      mysql,
      bodies: cloudant.bodies,
      cache,
      live,
      wakeRelay: () => events.wakeOutbox(),
    });
    return {
      mysql,
      authDatabase,
      cloudant,
      cache,
      events,
      live,
      registrations: usersOf(mysql, newId),
      core,
      close: () => closeAll(closers, log),
    };
  } catch (error) {
    await closeAll(closers, log);
    throw error;
  }
}

async function closeAll(closers: ReadonlyArray<() => unknown>, log: Logger): Promise<void> {
  for (const close of closers) {
    try {
      await close();
    } catch (error) {
      log.warn({ err: error }, 'closing a store failed');
    }
  }
}

/** A store that is away says so several times a second: one line in ten seconds is enough. */
function quietly(log: Logger, store: string): (error: Error) => void {
  let last = 0;
  return (error) => {
    if (Date.now() - last < 10_000) return;
    last = Date.now();
    log.warn({ store, reason: error.message }, 'store error');
  };
}
