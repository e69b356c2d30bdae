import type { Paged, Role, WorkspaceSummary } from '@sparkroom/contract';
import {
  clientNames,
  findClient,
  findWorkspace,
  isoOf,
  lockClient,
  lockRole,
  lockWorkspace,
  now,
  putMembership,
  type RoomCounts,
  roomCounts,
  type Trx,
  touchMembers,
  versionsOf,
  workspacePulse,
  workspacesOfUser,
} from '@sparkroom/mysql';
import type { Actor, Core } from '../core.ts';
import { decodeCursor, encodeCursor, pageOf } from '../cursor.ts';
import { afterCommit, type Kit, membershipId, newId } from '../deps.ts';
import { DomainError, versionConflict } from '../errors.ts';
import { COUNTS, type ListedWorkspace, MY_WORKSPACES, PULSE } from '../families.ts';
import { leaseOf, versionOf } from '../invalidator.ts';
import { nameClients } from '../name-clients.ts';
import { allows, requireClient, requireOpen, requireRole } from '../policy.ts';
import { toClient } from '../views.ts';
import { listsVersion, readIn } from './access.ts';

const clientArchived = () =>
  new DomainError('CLIENT_ARCHIVED', 'This client is archived. Bring it back before using it.');

/** What a person sees of a workspace's counts: drafts only their own. */
const countsFor = (actor: Actor, counts: RoomCounts | undefined) => ({
  memberCount: counts?.members ?? 0,
  ideaCount: (counts?.ideas ?? 0) + (counts?.drafts[actor.userId] ?? 0),
});

const mayPostIn = (workspace: { role: Role; archivedAt: string | null }): boolean =>
  workspace.archivedAt === null && allows(workspace.role, 'idea.post');

export function workspaceUseCases({ mysql, cache, command, record }: Kit): Core['workspaces'] {
  async function countsOf(id: string): Promise<RoomCounts> {
    return (await roomCounts(mysql.db, [id])).get(id) ?? { members: 0, ideas: 0, drafts: {} };
  }

  /**
   * Counts of several workspaces. Their versions are asked of the database in one query, but for those that this
   * process holds a lease on: so a count in a list may be some milliseconds old, at most five seconds.
   */
  async function countsOfMany(ids: readonly string[]): Promise<Map<string, RoomCounts>> {
    const wanted = new Map<string, number>();
    const unknown: string[] = [];
    for (const id of ids) {
      const version = cache.leases.get(leaseOf('room', id));
      if (version === undefined) unknown.push(id);
      else wanted.set(id, version);
    }
    const begun = cache.leases.begin();
    for (const [id, version] of await versionsOf(mysql.db, 'room', unknown)) {
      cache.leases.grant(leaseOf('room', id), version, begun);
      wanted.set(id, version);
    }
    return await cache.readMany(COUNTS, wanted, async (missing) => {
      const counts = await roomCounts(mysql.db, missing);
      return new Map(
        [...counts].map(([id, value]) => [id, { version: wanted.get(id) ?? 0, value }] as const),
      );
    });
  }

  /** A page of a person's workspaces, without counts. */
  async function listed(
    actor: Actor,
    limit: number,
    archived: boolean,
    after: readonly [string, string] | null,
  ): Promise<Paged<ListedWorkspace>> {
    const rows = await workspacesOfUser(mysql.db, {
      userId: actor.userId,
      archived,
      limit: limit + 1,
      after: after && { name: after[0], id: after[1] },
    });
    const page = rows.slice(0, limit);
    const clients = await clientNames(
      mysql.db,
      page.map((row) => row.client_id),
    );
    const named = new Map(nameClients(page, clients).map((row) => [row.id, row.client]));
    return pageOf(
      rows,
      limit,
      (row): ListedWorkspace => ({
        id: row.id,
        name: row.name,
        client: named.get(row.id) ?? { id: row.client_id, name: '' },
        role: row.role,
        version: row.version,
        archivedAt: row.archived_at === null ? null : isoOf(row.archived_at),
        createdAt: isoOf(row.created_at),
      }),
      (row) => encodeCursor('workspaces.list', [row.name, row.id]),
    );
  }

  async function get(actor: Actor, { id }: { id: string }) {
    const { workspace: found, role, open, versions } = await readIn(mysql, actor, id);
    const [counts, pulse] = await Promise.all([
      cache.read(COUNTS, { id, version: versionOf.room(versions) }, () => countsOf(id)),
      cache.read(PULSE, { id: `${id}:${actor.userId}`, version: versionOf.personal(versions) }, () =>
        workspacePulse(mysql.db, id, actor.userId),
      ),
    ]);
    const archivedAt = found.archived_at === null ? null : isoOf(found.archived_at);
    const mayPost = mayPostIn({ role, archivedAt });
    return {
      id,
      name: found.name,
      description: found.description,
      client: { id: found.client_id, name: found.client_name },
      role,
      version: found.version,
      ...countsFor(actor, counts),
      archivedAt,
      createdAt: isoOf(found.created_at),
      mayPost,
      pulse,
      may: {
        edit: open && allows(role, 'workspace.edit'),
        archive: allows(role, 'workspace.edit'),
        manageMembers: open && allows(role, 'members.manage'),
        post: mayPost,
        rate: open && allows(role, 'idea.rate'),
        writeGuidance: open && allows(role, 'guidance.write'),
      },
    };
  }

  /** The workspace, locked, of somebody who may change it and has read its present version. */
  async function lockToEdit(trx: Trx, actor: Actor, input: { id: string; version: number }) {
    requireRole(await lockRole(trx, input.id, actor.userId), 'workspace.edit');
    const row = await lockWorkspace(trx, input.id);
    if (row?.version !== input.version) throw versionConflict(row?.version ?? 0);
    return row;
  }

  return {
    get,
    async list(actor, { limit, cursor, archived }) {
      const after = decodeCursor('workspaces.list', ['string', 'id'], cursor);
      const page = after
        ? await listed(actor, limit, archived, after)
        : await cache.read(
            MY_WORKSPACES,
            {
              id: actor.userId,
              variant: `${limit}${archived ? ' archived' : ''}`,
              version: await listsVersion(mysql, actor),
            },
            () => listed(actor, limit, archived, null),
          );
      const counts = await countsOfMany(page.items.map((workspace) => workspace.id));
      return {
        items: page.items.map(
          (item): WorkspaceSummary => ({
            ...item,
            ...countsFor(actor, counts.get(item.id)),
            mayPost: mayPostIn(item),
          }),
        ),
        nextCursor: page.nextCursor,
      };
    },
    async client(actor, { id }) {
      const row = await findWorkspace(mysql.db, id, actor.userId);
      requireRole(row?.role, 'workspace.read');
      const client = await findClient(mysql.db, (row as NonNullable<typeof row>).client_id, actor.userId);
      requireClient(actor, client);
      return toClient(actor, client);
    },
    async create(actor, { clientId, name, description }) {
      const id = newId();
      await command(async (trx) => {
        requireClient(actor, await findClient(trx, clientId, actor.userId));
        // Locked, so that the client cannot be archived between the look and the commit.
        const client = await lockClient(trx, clientId);
        if (client?.archived_at !== null) throw clientArchived();
        await trx
          .insertInto('workspace')
          .values({ id, client_id: clientId, name, description, created_by: actor.userId })
          .execute();
        await putMembership(trx, id, actor.userId, 'owner');
        await record(trx, actor, {
          type: 'workspace.created',
          aggregateId: id,
          aggregateVersion: 1,
          workspaceId: id,
          payload: { name, clientId },
        });
        await record(trx, actor, {
          type: 'membership.added',
          aggregateId: membershipId(id, actor.userId),
          aggregateVersion: 1,
          workspaceId: id,
          payload: { userId: actor.userId, role: 'owner' },
        });
      });
      return await afterCommit(get(actor, { id }));
    },
    async update(actor, input) {
      await command(async (trx) => {
        const row = await lockToEdit(trx, actor, input);
        requireOpen(row.archived_at);
        const description = input.description ?? row.description;
        if (row.name === input.name && row.description === description) return;
        const version = row.version + 1;
        await trx
          .updateTable('workspace')
          .set({ name: input.name, description, version, updated_at: now })
          .where('id', '=', row.id)
          .execute();
        await record(trx, actor, {
          type: 'workspace.updated',
          aggregateId: row.id,
          aggregateVersion: version,
          workspaceId: row.id,
          payload: { name: input.name },
          detail: { before: { name: row.name } },
        });
        await touchMembers(trx, row.id);
      });
      return await afterCommit(get(actor, input));
    },
    async archive(actor, input) {
      await command(async (trx) => {
        requireRole(await lockRole(trx, input.id, actor.userId), 'workspace.edit');
        // The client first, in the order that clients.archive locks: it counts workspaces under the client's lock.
        const clientId = (await findWorkspace(trx, input.id, actor.userId))?.client_id ?? '';
        const client = await lockClient(trx, clientId);
        const row = await lockToEdit(trx, actor, input);
        if ((row.archived_at !== null) === input.archived) return;
        if (!input.archived && client?.archived_at !== null) throw clientArchived();
        const version = row.version + 1;
        await trx
          .updateTable('workspace')
          .set({ archived_at: input.archived ? now : null, version, updated_at: now })
          .where('id', '=', row.id)
          .execute();
        await record(trx, actor, {
          type: 'workspace.archived',
          aggregateId: row.id,
          aggregateVersion: version,
          workspaceId: row.id,
          payload: { archived: input.archived },
        });
        await touchMembers(trx, row.id);
      });
      return await afterCommit(get(actor, input));
    },
  };
}
