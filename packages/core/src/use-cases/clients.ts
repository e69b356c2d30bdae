import {
  countOpenWorkspaces,
  findClient,
  listClients,
  lockClient,
  now,
  type Trx,
  touchMembersOfClient,
} from '@sparkroom/mysql';
import type { Actor, Core } from '../core.ts';
import { decodeCursor, encodeCursor, pageOf } from '../cursor.ts';
import { afterCommit, type Kit, newId } from '../deps.ts';
import { DomainError, versionConflict } from '../errors.ts';
import { requireClient, seesAllClients } from '../policy.ts';
import { toClient } from '../views.ts';

export function clientUseCases({ mysql, command, record }: Kit): Core['clients'] {
  async function get(actor: Actor, { id }: { id: string }) {
    const row = await findClient(mysql.db, id, actor.userId);
    requireClient(actor, row);
    return toClient(actor, row);
  }

  /** The client, locked, of somebody who may change it and has read its present version. */
  async function lockToEdit(trx: Trx, actor: Actor, input: { id: string; version: number }) {
    requireClient(actor, await findClient(trx, input.id, actor.userId), true);
    const row = await lockClient(trx, input.id);
    if (row?.version !== input.version) throw versionConflict(row?.version ?? 0);
    return row;
  }

  return {
    get,
    async list(actor, { limit, cursor, archived }) {
      const after = decodeCursor('clients.list', ['string', 'id'], cursor);
      const rows = await listClients(mysql.db, {
        userId: actor.userId,
        all: seesAllClients(actor),
        archived,
        limit: limit + 1,
        after: after && { name: after[0], id: after[1] },
      });
      return pageOf(
        rows,
        limit,
        (row) => toClient(actor, row),
        (row) => encodeCursor('clients.list', [row.name, row.id]),
      );
    },
    async create(actor, { name }) {
      const id = newId();
      await command(async (trx) => {
        await trx.insertInto('client').values({ id, name, created_by: actor.userId }).execute();
        await record(trx, actor, {
          type: 'client.created',
          aggregateId: id,
          aggregateVersion: 1,
          workspaceId: null,
          payload: { name },
        });
      });
      return await afterCommit(get(actor, { id }));
    },
    async update(actor, input) {
      await command(async (trx) => {
        const row = await lockToEdit(trx, actor, input);
        if (row.name === input.name) return;
        const version = row.version + 1;
        await trx
          .updateTable('client')
          .set({ name: input.name, version, updated_at: now })
          .where('id', '=', row.id)
          .execute();
        await record(trx, actor, {
          type: 'client.updated',
          aggregateId: row.id,
          aggregateVersion: version,
          workspaceId: null,
          payload: { name: input.name },
          detail: { before: { name: row.name } },
        });
        await touchMembersOfClient(trx, row.id);
      });
      return await afterCommit(get(actor, input));
    },
    async archive(actor, input) {
      await command(async (trx) => {
        const row = await lockToEdit(trx, actor, input);
        if ((row.archived_at !== null) === input.archived) return;
        if (input.archived && (await countOpenWorkspaces(trx, input.id)) > 0) {
          throw new DomainError(
            'CLIENT_IN_USE',
            'This client still has workspaces that are in use. Archive those first.',
          );
        }
        const version = row.version + 1;
        await trx
          .updateTable('client')
          .set({ archived_at: input.archived ? now : null, version, updated_at: now })
          .where('id', '=', row.id)
          .execute();
        await record(trx, actor, {
          type: 'client.archived',
          aggregateId: row.id,
          aggregateVersion: version,
          workspaceId: null,
          payload: { archived: input.archived },
        });
      });
      return await afterCommit(get(actor, input));
    },
  };
}
