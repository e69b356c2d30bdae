import { type CacheSettings, readCacheSettings } from '@sparkroom/cache';
import { type CloudantSettings, readCloudantSettings } from '@sparkroom/cloudant';
import { type EventsSettings, readEventsSettings } from '@sparkroom/events';
import { type MysqlSettings, readMysqlSettings } from '@sparkroom/mysql';

/** What a worker can do; a process does one or several, and several processes may do the same. */
export const roleNames = ['relay', 'projector', 'cache', 'coherence'] as const;
export type RoleName = (typeof roleNames)[number];

/** What one does that is not told. Checking the caches is for a process of its own. */
const usualRoles: readonly RoleName[] = ['relay', 'projector', 'cache'];

/** Servers whose caches the role `coherence` reads from outside. */
export interface CoherenceSettings {
  servers: readonly string[];
  /** Session token of the account that reads there, and its id; it must be a member of what is to be checked. */
  token: string;
  userId: string;
}

export interface WorkerSettings {
  roles: readonly RoleName[];
  host: string;
  /** Port of health and metrics. Undefined: 3001, or any free one when that is taken. */
  port: number | undefined;
  logLevel: string;
  mysql: MysqlSettings;
  events: EventsSettings;
  cloudant: CloudantSettings;
  cache: CacheSettings;
  coherence: CoherenceSettings;
}

/**
 * Reads command line (`--roles relay,projector`) and environment; for the role `coherence` also
 * `SPARKROOM_COHERENCE_SERVERS` (addresses, comma separated), `SPARKROOM_COHERENCE_TOKEN` and `SPARKROOM_COHERENCE_USER`.
 * @throws Error saying which option or variable is wrong and what it should be
 */
export function readWorkerSettings(args: readonly string[], env: NodeJS.ProcessEnv): WorkerSettings {
  const roles = readRoles(args);
  const portText = env.SPARKROOM_WORKER_PORT;
  const port = portText ? Number(portText) : undefined;
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65_536))
    throw new Error('SPARKROOM_WORKER_PORT must be a port number; 0 takes any free one');
  return {
    roles,
    host: env.SPARKROOM_HOST || '127.0.0.1',
    port,
    logLevel: env.SPARKROOM_LOG_LEVEL || 'info',
    mysql: readMysqlSettings(env),
    events: readEventsSettings(env, `worker ${roles.join(',')} ${process.pid}`),
    cloudant: readCloudantSettings(env),
    cache: readCacheSettings(env),
    coherence: readCoherence(env),
  };
}

function readCoherence(env: NodeJS.ProcessEnv): CoherenceSettings {
  const servers = (env.SPARKROOM_COHERENCE_SERVERS ?? '')
    .split(',')
    .map((url) => url.trim().replace(/\/$/, ''))
    .filter((url) => url !== '');
  for (const url of servers)
    if (!URL.canParse(url))
      throw new Error('SPARKROOM_COHERENCE_SERVERS must be addresses like http://127.0.0.1:3000');
  const token = env.SPARKROOM_COHERENCE_TOKEN ?? '';
  const userId = env.SPARKROOM_COHERENCE_USER ?? '';
  if (servers.length > 0 && (token === '' || userId === ''))
    throw new Error(
      'SPARKROOM_COHERENCE_SERVERS needs SPARKROOM_COHERENCE_TOKEN, a session token, and SPARKROOM_COHERENCE_USER, the id of its account',
    );
  return { servers, token, userId };
}

function readRoles(args: readonly string[]): readonly RoleName[] {
  const usage = `Usage: worker [--roles ${roleNames.join(',')}]`;
  if (args.length === 0) return usualRoles;
  const text =
    args[0] === '--roles' && args.length === 2 ? args[1] : /^--roles=(.*)$/.exec(args[0] ?? '')?.[1];
  if (!text || (args.length > 1 && args[0] !== '--roles')) throw new Error(usage);
  const asked = new Set(text.split(',').map((name) => name.trim()));
  const unknown = [...asked].filter((name) => !(roleNames as readonly string[]).includes(name));
  if (unknown.length > 0) throw new Error(`There is no role ${unknown.join(', ')}. ${usage}`);
  return roleNames.filter((name) => asked.has(name));
}
