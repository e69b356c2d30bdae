import { setDefaultHighWaterMark } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailableError } from '@sparkroom/pools';
import { createApp } from './app.ts';
import { createLog } from './log.ts';
import { readServerSettings } from './settings.ts';
import { openStores, type Stores } from './stores.ts';

/**
 * Bytes that a stream keeps before it stops taking more; the default is 64 KiB. A live page whose reader has stalled
 * fills two of them, and there may be thousands.
 */
const STREAM_BYTES = 16 * 1024;

/** How long open requests may take to end after SIGTERM. */
const DRAIN_MS = 15_000;

setDefaultHighWaterMark(false, STREAM_BYTES);
const settings = readServerSettings(process.env);
const log = createLog('server', settings.logLevel);
let stopping = false;

async function open(): Promise<Stores> {
  for (;;) {
    try {
      return await openStores(process.env, log);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || stopping) throw error;
      log.warn({ store: error.store, err: error.cause }, 'waiting for a store');
      await pause(1000);
    }
  }
}

/** The first requests should find Redis connected; the site starts without it all the same. */
async function greetRedis({ cache }: Stores): Promise<void> {
  for (let tries = 0; tries < 30; tries++) {
    try {
      return await cache.ping();
    } catch {
      await pause(100);
    }
  }
  log.warn({ store: 'redis' }, 'starting without Redis');
}

const stores = await open();
await greetRedis(stores);
const app = await createApp(settings, stores, log);
await app.fastify.listen({ port: settings.port, host: settings.host });

async function stop(signal: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  log.info({ signal }, 'draining');
  const hard = setTimeout(() => {
    log.error('requests did not end in time');
    process.exit(1);
  }, DRAIN_MS);
  await app.close();
  await stores.close();
  clearTimeout(hard);
  log.info('stopped');
}
process.on('SIGTERM', () => void stop('SIGTERM'));
process.on('SIGINT', () => void stop('SIGINT'));
