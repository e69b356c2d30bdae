import type { Body, GuidanceWithBody } from '@sparkroom/contract';
import {
  findGuidance,
  findWorkspace,
  type GuidanceRow,
  insertPending,
  listGuidance,
  lockGuidance,
  now,
  type Trx,
} from '@sparkroom/mysql';
import type { Actor, Core } from '../core.ts';
import { decodeCursor, encodeCursor, pageOf } from '../cursor.ts';
import { afterCommit, type Kit, newId } from '../deps.ts';
import { notFound, roleRequired, versionConflict } from '../errors.ts';
import { allows, mayEditGuidance } from '../policy.ts';
import { excerptOf, toGuidance } from '../views.ts';
import { readIn, writeIn } from './access.ts';

const refOf = (row: GuidanceRow) => ({
  id: row.id,
  bodyVersion: row.body_version,
  storedVersion: row.stored_version,
});

export function guidanceUseCases({ mysql, bodies, command, record }: Kit): Core['guidance'] {
  async function get(actor: Actor, { id }: { id: string }): Promise<GuidanceWithBody> {
    const row = await findGuidance(mysql.db, id);
    const workspace = row && (await findWorkspace(mysql.db, row.workspace_id, actor.userId));
    const role = workspace?.role;
    if (!row || !role || !allows(role, 'workspace.read')) throw notFound('guidance');
    const texts = await bodies.many('guidance', [refOf(row)]);
    return {
      ...toGuidance(actor, role, row, workspace.archived_at === null),
      body: texts.get(id) as Body,
    };
  }

  /** The guidance, locked, of somebody who may change it and has read its present version. */
  async function lockToChange(trx: Trx, actor: Actor, input: { id: string; version: number }) {
    const seen = await findGuidance(trx, input.id);
    if (!seen) throw notFound('guidance');
    const role = await writeIn(trx, actor, seen.workspace_id, 'workspace.read', 'guidance');
    const row = await lockGuidance(trx, input.id);
    if (!row) throw notFound('guidance');
    if (!mayEditGuidance(actor, role, { authorId: row.author_id })) {
      throw roleRequired('its author (as owner or editor) and owners');
    }
    if (row.version !== input.version) throw versionConflict(row.version);
    return row;
  }

  return {
    get,
    async list(actor, { workspaceId, limit, cursor }) {
      const after = decodeCursor('guidance.list', ['time', 'id'], cursor);
      const { role, open } = await readIn(mysql, actor, workspaceId);
      const rows = await listGuidance(
        mysql.db,
        workspaceId,
        limit + 1,
        after && { createdAt: after[0], id: after[1] },
      );
      return pageOf(
        rows,
        limit,
        (row) => toGuidance(actor, role, row, open),
        (row) => encodeCursor('guidance.list', [row.created_at, row.id]),
      );
    },
    async create(actor, { workspaceId, title, body }) {
      const id = newId();
      await command(async (trx) => {
        await writeIn(trx, actor, workspaceId, 'guidance.write');
        await trx
          .insertInto('guidance')
          .values({
            id,
            workspace_id: workspaceId,
            author_id: actor.userId,
            title,
            excerpt: excerptOf(body.text),
          })
          .execute();
        await insertPending(trx, 'guidance', id, 1, body);
        await record(trx, actor, {
          type: 'guidance.published',
          aggregateId: id,
          aggregateVersion: 1,
          workspaceId,
          payload: { title, bodyVersion: 1 },
        });
      });
      return await afterCommit(get(actor, { id }));
    },
    async update(actor, input) {
      await command(async (trx) => {
        const row = await lockToChange(trx, actor, input);
        const title = input.title ?? row.title;
        const version = row.version + 1;
        const bodyVersion = input.body ? version : row.body_version;
        await trx
          .updateTable('guidance')
          .set({
            title,
            ...(input.body ? { excerpt: excerptOf(input.body.text) } : {}),
            version,
            body_version: bodyVersion,
            event_version: row.event_version + 1,
            updated_at: now,
          })
          .where('id', '=', row.id)
          .execute();
        if (input.body) await insertPending(trx, 'guidance', row.id, version, input.body);
        await record(trx, actor, {
          type: 'guidance.revised',
          aggregateId: row.id,
          aggregateVersion: row.event_version + 1,
          workspaceId: row.workspace_id,
          payload: { title, bodyVersion },
        });
      });
      return await afterCommit(get(actor, input));
    },
    async remove(actor, input) {
      await command(async (trx) => {
        const row = await lockToChange(trx, actor, input);
        const version = row.version + 1;
        await trx
          .updateTable('guidance')
          .set({ removed_at: now, version, event_version: row.event_version + 1, updated_at: now })
          .where('id', '=', row.id)
          .execute();
        await record(trx, actor, {
          type: 'guidance.removed',
          aggregateId: row.id,
          aggregateVersion: row.event_version + 1,
          workspaceId: row.workspace_id,
          payload: { bodyVersion: version },
          detail: { before: { title: row.title } },
        });
      });
      return { removed: true };
    },
  };
}
