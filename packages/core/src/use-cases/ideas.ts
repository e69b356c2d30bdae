import type { Body, Idea, IdeaRevision, IdeaStatus, Role } from '@sparkroom/contract';
import {
  findIdea,
  findIdeas,
  findWorkspace,
  type IdeaListOptions,
  type IdeaRow,
  type IdeaSort,
  ideaRevisions,
  ideaSorts,
  insertPending,
  isoOf,
  type LockedIdea,
  listIdeas,
  lockIdea,
  now,
  ownAmong,
  parseJson,
  type RoomVersions,
  rankingRows,
  ratingFrame,
  type Trx,
  textVersionBefore,
} from '@sparkroom/mysql';
import type { Actor, Core } from '../core.ts';
import { decodeCursor, encodeCursor, pageOf } from '../cursor.ts';
import { afterCommit, type Kit, newId } from '../deps.ts';
import { DomainError, notFound, roleRequired, versionConflict } from '../errors.ts';
import { IDEAS, OWN, RANKING, type RatingFrame, type SharedIdea } from '../families.ts';
import { versionOf } from '../invalidator.ts';
import { mayEditIdea, mayRemoveIdea, maySeeIdea, reachableStatuses } from '../policy.ts';
import { bandsOf, compareRanked, type RankKey, rankKey } from '../scoring.ts';
import { excerptOf, priorOfFrame, sumsOf, toIdeaSummary } from '../views.ts';
import { readIn, writeIn } from './access.ts';

const facts = (row: { author_id: string; status: IdeaStatus }) => ({
  authorId: row.author_id,
  status: row.status,
});

const refOf = (row: IdeaRow) => ({
  id: row.id,
  bodyVersion: row.body_version,
  storedVersion: row.stored_version,
});

/** What a change of an idea writes beside the idea's row. */
async function addRevision(
  trx: Trx,
  actor: Actor,
  row: { id: string; title: string; status: IdeaStatus; version: number },
  kind: IdeaRevision['kind'],
  more: { hasBody: boolean; reason?: string | null },
): Promise<void> {
  await trx
    .insertInto('idea_revision')
    .values({
      idea_id: row.id,
      version: row.version,
      kind,
      title: row.title,
      status: row.status,
      reason: more.reason ?? null,
      has_body: more.hasBody,
      editor_id: actor.userId,
    })
    .execute();
}

/** A ranking's cursor: the key of the last idea, and the sums that make the prior. */
const rankCursor = ['number', 'number', 'number', 'time', 'id', 'number', 'number'] as const;
type RankCursor = NonNullable<ReturnType<typeof decodeCursor<typeof rankCursor>>>;

type Own = NonNullable<(typeof OWN)['value']>;

const starsOf = (rows: readonly IdeaRow[]): Own['stars'] =>
  Object.fromEntries(rows.map((row) => [row.id, row.my_rating]));

/** Whom a shared list is read as: nobody, who has no drafts and no ratings. */
const NOBODY = '';

const shared = ({ my_rating: _, ...row }: IdeaRow): SharedIdea => row;

export function ideaUseCases({ mysql, bodies, cache, command, record }: Kit): Core['ideas'] {
  /** The idea as the actor may see it, with their role; a foreign one and a missing one answer alike. */
  async function visible(actor: Actor, id: string) {
    const row = await findIdea(mysql.db, id, actor.userId);
    const workspace = row && (await findWorkspace(mysql.db, row.workspace_id, actor.userId));
    const role = workspace?.role;
    if (!row || !role || !maySeeIdea(actor, role, facts(row))) throw notFound('idea');
    return { row, role, open: workspace.archived_at === null };
  }

  async function get(actor: Actor, { id }: { id: string }): Promise<Idea> {
    const { row, role, open } = await visible(actor, id);
    const [frame, texts] = await Promise.all([
      ratingFrame(mysql.db, row.workspace_id),
      bodies.many('idea', [refOf(row)]),
    ]);
    const of = facts(row);
    return {
      ...toIdeaSummary(row, role, frame, open),
      body: texts.get(id) as Body,
      statusReason: row.status_reason,
      may: {
        edit: open && mayEditIdea(actor, role, of),
        remove: open && mayRemoveIdea(actor, role, of),
        setStatus: open ? reachableStatuses(actor, role, of) : [],
      },
    };
  }

  /**
   * The idea, locked, if the actor may see it, `allowed` says yes, and the version is the one the actor read.
   * The role is locked before the idea, the order in which ratings and removals of members lock too.
   */
  async function lockToChange(
    trx: Trx,
    actor: Actor,
    input: { id: string; version: number },
    allowed: (role: Role, row: LockedIdea) => boolean,
    who: string,
  ): Promise<{ row: LockedIdea; role: Role }> {
    const seen = await findIdea(trx, input.id, actor.userId);
    if (!seen) throw notFound('idea');
    const role = await writeIn(trx, actor, seen.workspace_id, 'workspace.read', 'idea');
    const row = await lockIdea(trx, input.id);
    if (!row || !maySeeIdea(actor, role, facts(row))) throw notFound('idea');
    if (!allowed(role, row)) throw roleRequired(who);
    if (row.version !== input.version) throw versionConflict(row.version);
    return { row, role };
  }

  async function listed(options: IdeaListOptions): Promise<{ rows: IdeaRow[]; frame: RatingFrame }> {
    const [rows, frame] = await Promise.all([
      listIdeas(mysql.db, options),
      ratingFrame(mysql.db, options.workspaceId),
    ]);
    return { rows, frame };
  }

  /**
   * The actor's stars of ideas that everybody sees.
   * @param seen what the load of the rows has found out already
   */
  async function ownFor(
    actor: Actor,
    { id, variant, version }: { id: string; variant: string; version: number },
    rows: readonly SharedIdea[],
    seen: Own | undefined,
  ): Promise<Own> {
    const load = async () => {
      const ids = rows.map((row) => row.id);
      return seen ?? (await ownAmong(mysql.db, id, actor.userId, ids));
    };
    const own = await cache.read(OWN, { id: `${id}:${actor.userId}`, variant, version }, load);
    // The rows may be newer than what is remembered of them.
    return rows.every((row) => own.stars[row.id] !== undefined) ? own : await load();
  }

  /** The page that all members share with the actor's ratings put in; null when the actor has drafts. */
  async function firstPage(
    actor: Actor,
    workspaceId: string,
    versions: RoomVersions,
    sort: IdeaSort,
    limit: number,
  ): Promise<{ rows: IdeaRow[]; frame: RatingFrame } | null> {
    const wanted = { id: workspaceId, variant: `${sort} ${limit}` };
    const seen: { own?: Own } = {};
    const { rows, frame } = await cache.read(
      IDEAS,
      { ...wanted, version: versionOf.list(versions) },
      async () => {
        const options = {
          workspaceId,
          sort,
          statuses: null,
          filter: 'all',
          limit: limit + 1,
          after: null,
        } as const;
        let all = await listed({ ...options, userId: actor.userId });
        // Read as the actor, it brings their stars along; only a draft among the rows makes it theirs alone.
        if (all.rows.some((row) => row.status === 'draft'))
          all = await listed({ ...options, userId: NOBODY });
        else seen.own = { stars: starsOf(all.rows), drafts: false };
        return { rows: all.rows.map(shared), frame: all.frame };
      },
    );
    const own = await ownFor(actor, { ...wanted, version: versionOf.personal(versions) }, rows, seen.own);
    if (own.drafts) return null;
    return { rows: rows.map((row) => ({ ...row, my_rating: own.stars[row.id] ?? null })), frame };
  }

  /** A page of the ranking as everybody sees it. */
  async function ranked(actor: Actor, workspaceId: string, limit: number, after: RankCursor | null) {
    const [rows, present] = await Promise.all([
      rankingRows(mysql.db, workspaceId),
      ratingFrame(mysql.db, workspaceId),
    ]);
    // All pages are ranked by the prior of the first one: a rating in between would move every idea, not only its own.
    const frame: RatingFrame = after ? { ...present, ratings: after[5], sum: after[6] } : present;
    const last = after?.slice(0, 5) as RankKey | undefined;
    const prior = priorOfFrame(frame);
    const all = rows
      .map((row) => ({ row, key: rankKey({ ...sumsOf(row), id: row.id, activeAt: row.active_at }, prior) }))
      .sort((a, b) => compareRanked(a.key, b.key));
    const bands = bandsOf(
      all.map(({ row }) => sumsOf(row)),
      prior,
    );
    // Continues behind the last key rather than at an offset: ratings that came in between move ideas, not the page.
    const start = last ? all.findIndex(({ key }) => compareRanked(key, last) > 0) : 0;
    const from = start === -1 ? all.length : start;
    const slice = all.slice(from, from + limit);
    const details = await findIdeas(
      mysql.db,
      slice.map(({ row }) => row.id),
      actor.userId,
    );
    const byId = new Map(details.map((row) => [row.id, shared(row)]));
    const end = slice.at(-1);
    const more = from + limit < all.length;
    return {
      // One that is gone between the two reads is left out.
      ideas: slice.flatMap(({ row: { id } }, i) => {
        const row = byId.get(id);
        return row ? [{ row, rank: from + i + 1, band: bands[from + i] as number }] : [];
      }),
      frame,
      nextCursor: more && end ? encodeCursor('ideas.ranking', [...end.key, frame.ratings, frame.sum]) : null,
      total: all.length,
      own: starsOf(details),
    };
  }

  /** A page of the ranking and the actor's stars of its ideas. */
  async function rankedFor(
    actor: Actor,
    workspaceId: string,
    limit: number,
    after: RankCursor | null,
    versions: RoomVersions,
  ) {
    if (after) return await ranked(actor, workspaceId, limit, after);
    const wanted = { id: workspaceId, variant: `ranking ${limit}` };
    const seen: { own?: Own } = {};
    const page = await cache.read(RANKING, { ...wanted, version: versionOf.list(versions) }, async () => {
      const { own, ...rest } = await ranked(actor, workspaceId, limit, null);
      seen.own = { stars: own, drafts: false };
      return rest;
    });
    const rows = page.ideas.map(({ row }) => row);
    const own = await ownFor(actor, { ...wanted, version: versionOf.personal(versions) }, rows, seen.own);
    return { ...page, own: own.stars };
  }

  return {
    get,
    async list(actor, input) {
      const { workspaceId, limit, sort, filter } = input;
      const kind = `ideas.list.${sort}`;
      const after = decodeCursor(kind, [sort === 'title' ? 'string' : 'time', 'id'], input.cursor);
      const { role, open, versions } = await readIn(mysql, actor, workspaceId);
      const first = !after && !input.status && filter === 'all';
      const { rows, frame } =
        (first ? await firstPage(actor, workspaceId, versions, sort, limit) : null) ??
        (await listed({
          workspaceId,
          userId: actor.userId,
          sort,
          statuses: input.status ?? null,
          filter,
          limit: limit + 1,
          after: after && { value: after[0], id: after[1] },
        }));
      const texts = input.withBody ? await bodies.many('idea', rows.slice(0, limit).map(refOf)) : null;
      return pageOf(
        rows,
        limit,
        (row) => {
          const summary = toIdeaSummary(row, role, frame, open);
          const body = texts?.get(row.id);
          return body ? { ...summary, body } : summary;
        },
        (row) => encodeCursor(kind, [row[ideaSorts[sort].column], row.id]),
      );
    },
    async history(actor, { id, limit, cursor }) {
      const after = decodeCursor('ideas.history', ['number'], cursor);
      const { row: idea } = await visible(actor, id);
      // What the author tried in the draft stays the author's; for others the idea begins with what was posted.
      const rows = await ideaRevisions(mysql.db, id, {
        limit: limit + 1,
        before: after?.[0] ?? null,
        drafts: idea.author_id === actor.userId,
      });
      const page = rows.slice(0, limit);
      const textOf = new Map(page.filter((row) => row.has_body).map((row) => [row.version, row.version]));
      const first = rows.length > limit ? undefined : page.at(-1);
      if (first && !first.has_body) {
        const version = await textVersionBefore(mysql.db, id, first.version);
        if (version !== null) textOf.set(first.version, version);
      }
      const texts = await bodies.history(id, [...textOf.values()]);
      return pageOf(
        rows,
        limit,
        (row) => ({
          version: row.version,
          kind: row.kind,
          title: row.title,
          body: texts.get(textOf.get(row.version) ?? 0) ?? null,
          status: row.status,
          reason: row.reason,
          by: { id: row.editor_id, name: row.editor_name },
          at: isoOf(row.created_at),
        }),
        (row) => encodeCursor('ideas.history', [row.version]),
      );
    },
    async ranking(actor, { workspaceId, limit, cursor }) {
      const { role, open, versions } = await readIn(mysql, actor, workspaceId);
      const after = decodeCursor('ideas.ranking', rankCursor, cursor);
      const page = await rankedFor(actor, workspaceId, limit, after, versions);
      return {
        items: page.ideas.map(({ row, rank, band }) => ({
          ...toIdeaSummary({ ...row, my_rating: page.own[row.id] ?? null }, role, page.frame, open),
          rank,
          band,
        })),
        nextCursor: page.nextCursor,
        prior: priorOfFrame(page.frame),
        total: page.total,
      };
    },
    async create(actor, { workspaceId, title, body, tags, status }) {
      const id = newId();
      await command(async (trx) => {
        await writeIn(trx, actor, workspaceId, 'idea.post');
        await trx
          .insertInto('idea')
          .values({
            id,
            workspace_id: workspaceId,
            author_id: actor.userId,
            status,
            title,
            excerpt: excerptOf(body.text),
            tags: JSON.stringify(tags),
          })
          .execute();
        await insertPending(trx, 'idea', id, 1, body);
        await addRevision(trx, actor, { id, title, status, version: 1 }, 'created', { hasBody: true });
        await record(trx, actor, {
          type: 'idea.created',
          aggregateId: id,
          aggregateVersion: 1,
          workspaceId,
          payload: { title, status, authorId: actor.userId, bodyVersion: 1 },
          private: status === 'draft',
        });
      });
      return await afterCommit(get(actor, { id }));
    },
    async update(actor, input) {
      await command(async (trx) => {
        const { row } = await lockToChange(
          trx,
          actor,
          input,
          (role, idea) => mayEditIdea(actor, role, facts(idea)),
          'the author, owners and editors (and nobody while it is archived)',
        );
        const title = input.title ?? row.title;
        const tags = input.tags ?? parseJson<string[]>(row.tags);
        const version = row.version + 1;
        const bodyVersion = input.body ? version : row.body_version;
        await trx
          .updateTable('idea')
          .set({
            title,
            tags: JSON.stringify(tags),
            ...(input.body ? { excerpt: excerptOf(input.body.text) } : {}),
            version,
            body_version: bodyVersion,
            event_version: row.event_version + 1,
            updated_at: now,
            active_at: now,
          })
          .where('id', '=', row.id)
          .execute();
        if (input.body) await insertPending(trx, 'idea', row.id, version, input.body);
        await addRevision(trx, actor, { ...row, title, version }, 'revised', { hasBody: !!input.body });
        await record(trx, actor, {
          type: 'idea.revised',
          aggregateId: row.id,
          aggregateVersion: row.event_version + 1,
          workspaceId: row.workspace_id,
          payload: { title, status: row.status, bodyVersion },
          detail: row.title === title ? {} : { before: { title: row.title } },
          private: row.status === 'draft',
        });
      });
      return await afterCommit(get(actor, input));
    },
    async setStatus(actor, input) {
      await command(async (trx) => {
        const { row, role } = await lockToChange(trx, actor, input, () => true, '');
        if (row.status === input.status) return;
        const reachable = reachableStatuses(actor, role, facts(row));
        if (reachable.length === 0) {
          throw roleRequired('owners and editors (and the author, for a draft or to archive)');
        }
        if (!reachable.includes(input.status)) {
          throw new DomainError(
            'STATUS_NOT_REACHABLE',
            `An idea that is ${row.status} cannot become ${input.status} now. Possible: ${reachable.join(', ')}.`,
            { reachable },
          );
        }
        const reason = input.reason || null;
        if (input.status === 'declined' && reason === null) {
          throw new DomainError('INVALID_INPUT', 'Say in one sentence why the idea is declined.', {
            fields: { reason: 'Say in one sentence why the idea is declined.' },
          });
        }
        const version = row.version + 1;
        await trx
          .updateTable('idea')
          .set({
            status: input.status,
            status_reason: reason,
            version,
            event_version: row.event_version + 1,
            updated_at: now,
            active_at: now,
          })
          .where('id', '=', row.id)
          .execute();
        await addRevision(trx, actor, { ...row, status: input.status, version }, 'statusChanged', {
          hasBody: false,
          reason,
        });
        await record(trx, actor, {
          type: 'idea.statusChanged',
          aggregateId: row.id,
          aggregateVersion: row.event_version + 1,
          workspaceId: row.workspace_id,
          payload: { from: row.status, to: input.status, reason },
        });
      });
      return await afterCommit(get(actor, input));
    },
    async remove(actor, input) {
      await command(async (trx) => {
        const { row } = await lockToChange(
          trx,
          actor,
          input,
          (role, idea) => mayRemoveIdea(actor, role, facts(idea)),
          'the author (while it is a draft or open) and owners',
        );
        const version = row.version + 1;
        await trx
          .updateTable('idea')
          .set({ removed_at: now, version, event_version: row.event_version + 1, updated_at: now })
          .where('id', '=', row.id)
          .execute();
        await record(trx, actor, {
          type: 'idea.removed',
          aggregateId: row.id,
          aggregateVersion: row.event_version + 1,
          workspaceId: row.workspace_id,
          // Higher than any text, so that the document store refuses one that comes late.
          payload: { status: row.status, bodyVersion: version },
          detail: { before: { title: row.title } },
          private: row.status === 'draft',
        });
      });
      return { removed: true };
    },
  };
}
