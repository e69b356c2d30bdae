import { openCache, readCacheSettings } from '@sparkroom/cache';
import { type Cloudant, openCloudant, readCloudantSettings } from '@sparkroom/cloudant';
import type { AnyDomainEvent, Idea, Role, Workspace } from '@sparkroom/contract';
import {
  bodiesOf,
  ensureDatabase,
  type Mysql,
  migrate,
  openMysql,
  readMysqlSettings,
} from '@sparkroom/mysql';
import { type Actor, type Core, createCore, DomainError, newId } from '../src/index.ts';

export interface WorldOptions {
  /** Where the stores are. Default: the run's stack. */
  env?: NodeJS.ProcessEnv;
  /** Make the document databases too; without them only waiting texts can be read. */
  documents?: boolean;
  connections?: number;
}

/** Use cases over real stores in a database of the test file's own. */
export interface World {
  core: Core;
  mysql: Mysql;
  cloudant: Cloudant;
  /** Events for the live feed's readers; what is pushed here is heard by those who listen. */
  heard: AnyDomainEvent[];
  /** Somebody with an account. */
  person(name?: string, platformRole?: 'user' | 'admin'): Promise<Person>;
  /** A client and a workspace of somebody. */
  workspace(owner: Person, name?: string): Promise<Workspace>;
  /** A new member of a workspace. */
  member(owner: Person, workspaceId: string, role: Role, name?: string): Promise<Person>;
  /** An idea of somebody. */
  idea(author: Person, workspaceId: string, status?: 'draft' | 'open', title?: string): Promise<Idea>;
  /** Carries waiting texts into the document store, as the projector does. */
  project(): Promise<void>;
  /** Types of events in the outbox that belong to an aggregate, in order. */
  events(aggregateId: string): Promise<string[]>;
  close(): Promise<void>;
}

export interface Person extends Actor {
  name: string;
  email: string;
}

export async function openWorld(name: string, options: WorldOptions = {}): Promise<World> {
  const given = options.env ?? process.env;
  const url = new URL(given.SPARKROOM_MYSQL_URL ?? '');
  url.pathname = `/sparkroom_${name}_${process.pid}`;
  const env = {
    ...given,
    SPARKROOM_MYSQL_URL: url.href,
    SPARKROOM_CLOUDANT_PREFIX: `${name}-${process.pid}`,
    SPARKROOM_REDIS_PREFIX: `${name}-${process.pid}`,
  };
  await ensureDatabase(url.href);
  const mysql = await openMysql({ ...readMysqlSettings(env), connections: options.connections ?? 20 });
  await migrate(mysql.db);
  const cloudant = openCloudant({ ...readCloudantSettings(env), deadlineMs: 5000 });
  if (options.documents) await cloudant.ensureDatabases();
  const cache = openCache(readCacheSettings(env));
  const heard: AnyDomainEvent[] = [];
  const core = createCore({
    mysql,
    bodies: cloudant.bodies,
    cache,
    live: {
      async *subscribe({ workspaceId }) {
        yield { kind: 'ready', seq: '0' };
        for (const [i, event] of heard.entries()) {
          if (event.workspaceId === workspaceId) yield { kind: 'event', seq: String(i + 1), event };
        }
      },
    },
    wakeRelay: () => {},
  });
  const bodies = bodiesOf(mysql, newId);

  const world: World = {
    core,
    mysql,
    cloudant,
    heard,
    async person(called = 'Ana', platformRole = 'user') {
      const id = newId();
      const email = `${id.toLowerCase()}@sparkroom.example`;
      await mysql.db
        .insertInto('user')
        .values({
          id,
          name: called,
          email,
          email_verified: true,
          image: null,
          locale: null,
          announced_at: null,
        })
        .execute();
      return { userId: id, platformRole, requestId: `request-${id}`, name: called, email };
    },
    async workspace(owner, called = 'Spring') {
      const client = await core.clients.create(owner, { name: 'Nordhaven' });
      return await core.workspaces.create(owner, { clientId: client.id, name: called, description: '' });
    },
    async member(owner, workspaceId, role, called = role) {
      const person = await world.person(called);
      await core.members.add(owner, { workspaceId, email: person.email, role });
      return person;
    },
    async idea(author, workspaceId, status = 'open', title = 'An idea') {
      return await core.ideas.create(author, {
        workspaceId,
        title,
        body: { text: `About ${title}` },
        tags: [],
        status,
      });
    },
    async project() {
      for (const { kind, id, version } of await bodies.stale(0, 1000)) {
        const text = await bodies.pending(kind, id, version);
        if (!text) continue;
        const { workspaceId, body } = text;
        await cloudant.bodies.apply({ id, type: kind, workspaceId, version, body });
        await bodies.confirm(kind, id, version);
      }
    },
    async events(aggregateId) {
      const rows = await mysql.db
        .selectFrom('outbox')
        .select('type')
        .where('aggregate_id', '=', aggregateId)
        .orderBy('id')
        .execute();
      return rows.map((row) => row.type);
    },
    async close() {
      if (options.documents) {
        for (const database of ['bodies', 'legacy'] as const) {
          await cloudant
            .request('write', (server) => server.db.destroy(cloudant.database(database).name), {
              idempotent: true,
            })
            .catch(() => {});
        }
      }
      await Promise.allSettled([mysql.close(), cloudant.close(), cache.close()]);
    },
  };
  return world;
}

/** What a use case refused with. @throws when it did not refuse */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ reason: string; message: string; details: object }> {
  const error = await call.then(
    (value) => new Error(`was not refused but answered ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DomainError)) throw error;
  return { reason: error.reason, message: error.message, details: error.details };
}

/** The reason alone. */
export const reasonOf = async (call: Promise<unknown>): Promise<string> => (await refusal(call)).reason;

/** Every page of a list, put together; fails when a list does not come to an end. */
export async function allPages<T>(
  page: (cursor: string | null) => Promise<{ items: T[]; nextCursor: string | null }>,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  for (let i = 0; i < 1000; i++) {
    const next: { items: T[]; nextCursor: string | null } = await page(cursor);
    items.push(...next.items);
    cursor = next.nextCursor;
    if (cursor === null) return items;
  }
  throw new Error('the list does not end');
}
