import type { Gate } from '@sparkroom/pools';
import { deadlineIn } from '@sparkroom/pools';
import { Bodies } from './bodies.ts';
import { Database } from './database.ts';
import { type DeployOptions, deployDesign } from './deploy.ts';
import { Legacy, legacyDesigns } from './legacy.ts';
import type { CloudantSettings } from './settings.ts';
import { type RequestCallOptions, type RequestClass, Transport } from './transport.ts';

/** How long a readiness check waits, in milliseconds. */
const pingMs = 2000;

export interface Cloudant {
  /** Idea and guidance bodies, in `<prefix>_bodies`. */
  readonly bodies: Bodies;
  /** The brief's documents, in `<prefix>_legacy`. */
  readonly legacy: Legacy;
  /** The gates, for their figures and for `resize`: `main` for requests, `slow` for view builds. */
  readonly gates: { readonly main: Gate; readonly slow: Gate };
  /** Any database of the same server, by its part after the prefix. */
  database(name: string): Database;
  /** One call on nano, with everything that this package adds. See `Transport.request`. */
  request: Transport['request'];
  /** Creates our databases unless they are there. */
  ensureDatabases(options?: { signal?: AbortSignal }): Promise<void>;
  /** Brings all design documents to what the code says, one after the other. See `deployDesign`. */
  deploy(options?: DeployOptions): Promise<void>;
  /** Resolves when the server answers with our credentials; throws what `request` throws, within 2 s. */
  ping(signal?: AbortSignal): Promise<void>;
  /** Refuses new requests, lets the running ones end, closes the connections. */
  close(): Promise<void>;
}

/** Opens the store. No request is made yet, so it succeeds while the server is down. */
export function openCloudant(settings: CloudantSettings): Cloudant {
  const transport = new Transport(settings);
  const database = (name: string) => new Database(transport, `${settings.prefix}_${name}`);
  const bodies = database('bodies');
  const legacy = database('legacy');
  return {
    bodies: new Bodies(bodies, transport.deadlineMs),
    legacy: new Legacy(legacy),
    gates: { main: transport.gate, slow: transport.slowGate },
    database,
    request: <T>(
      cls: RequestClass,
      fn: Parameters<typeof transport.request<T>>[1],
      options?: RequestCallOptions,
    ) => transport.request<T>(cls, fn, options),
    async ensureDatabases(options) {
      await bodies.ensure(options);
      await legacy.ensure(options);
    },
    async deploy(options) {
      for (const design of legacyDesigns) await deployDesign(legacy, design, options);
    },
    async ping(signal) {
      // Whether the database is there is not the question, only that somebody answers who knows us.
      await bodies.exists({ retry: false, deadline: deadlineIn(pingMs), ...(signal ? { signal } : {}) });
    },
    close: () => transport.close(),
  };
}
