import type { Cache } from '@sparkroom/cache';
import type { Cloudant } from '@sparkroom/cloudant';
import type { Consumer, Events, Log } from '@sparkroom/events';
import type { Mysql } from '@sparkroom/mysql';
import type { WorkerMetrics } from './metrics.ts';
import type { WorkerSettings } from './settings.ts';

/** The open stores of a worker. */
export interface Stores {
  mysql: Mysql;
  events: Events;
  cloudant: Cloudant;
  cache: Cache;
}

export interface RoleContext extends Stores {
  log: Log;
  metrics: WorkerMetrics;
  settings: WorkerSettings;
}

/** A role at work. */
export interface Role {
  /** For lag and ack-floor gap in the metrics. */
  consumers: readonly Consumer[];
  /** Takes no more work, finishes what is in hand. */
  stop(): Promise<void>;
}

/** Milliseconds for handlers to finish when the worker stops; the whole stop takes at most ten seconds. */
export const drainMs = 7_000;
