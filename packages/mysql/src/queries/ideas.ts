import type { IdeaStatus } from '@sparkroom/contract';
import { type SqlBool, sql } from 'kysely';
import type { Db, Trx } from '../database.ts';

/** Orders a list of ideas can have; each has an index that ends in the id. */
export const ideaSorts = {
  newest: { column: 'created_at', direction: 'desc' },
  oldest: { column: 'created_at', direction: 'asc' },
  active: { column: 'active_at', direction: 'desc' },
  title: { column: 'title', direction: 'asc' },
} as const;
export type IdeaSort = keyof typeof ideaSorts;

/** An idea with its author, the asking person's rating, and whether the author is one of those who may rate. */
const ideaRow = (db: Db | Trx, userId: string) =>
  db
    .selectFrom('idea as i')
    .innerJoin('user as u', 'u.id', 'i.author_id')
    .leftJoin('rating as r', (j) => j.onRef('r.idea_id', '=', 'i.id').on('r.user_id', '=', userId))
    .leftJoin('membership as am', (j) =>
      j
        .onRef('am.workspace_id', '=', 'i.workspace_id')
        .onRef('am.user_id', '=', 'i.author_id')
        .on('am.removed_at', 'is', null)
        .on('am.role', '<>', 'viewer'),
    )
    .selectAll('i')
    .select(['u.name as author_name', 'r.stars as my_rating', 'am.user_id as author_rates'])
    .where('i.removed_at', 'is', null)
    // Drafts are their author's alone, on every way to an idea.
    .where((eb) => eb.or([eb('i.status', '<>', 'draft'), eb('i.author_id', '=', userId)]));

/** One idea as the person sees it, whatever their membership: the policy decides that. */
export async function findIdea(db: Db | Trx, id: string, userId: string) {
  return await ideaRow(db, userId).where('i.id', '=', id).executeTakeFirst();
}

export type IdeaRow = NonNullable<Awaited<ReturnType<typeof findIdea>>>;

/** Some ideas by id, in no order. */
export async function findIdeas(db: Db | Trx, ids: readonly string[], userId: string): Promise<IdeaRow[]> {
  if (ids.length === 0) return [];
  return await ideaRow(db, userId)
    .where('i.id', 'in', [...ids])
    .execute();
}

export interface IdeaListOptions {
  workspaceId: string;
  userId: string;
  sort: IdeaSort;
  statuses: readonly IdeaStatus[] | null;
  filter: 'all' | 'unrated' | 'mine';
  limit: number;
  /** Sort value and id of the last idea of the page before. */
  after: { value: string; id: string } | null;
}

/** The query behind {@link listIdeas}, apart so that a test can ask for its plan. */
export function ideaListQuery(db: Db, options: IdeaListOptions) {
  const { column, direction } = ideaSorts[options.sort];
  const sortColumn = sql.ref<string>(`i.${column}`);
  let query = ideaRow(db, options.userId)
    .where('i.workspace_id', '=', options.workspaceId)
    .orderBy(sortColumn, direction)
    .orderBy('i.id', direction)
    .limit(options.limit);
  if (options.statuses) query = query.where('i.status', 'in', [...options.statuses]);
  if (options.filter === 'mine') query = query.where('i.author_id', '=', options.userId);
  if (options.filter === 'unrated') {
    query = query
      .where('i.status', 'in', ['open', 'shortlisted'])
      .where('i.author_id', '<>', options.userId)
      .where('r.stars', 'is', null);
  }
  if (options.after) {
    const { value, id } = options.after;
    query = query.where(
      direction === 'asc'
        ? sql<SqlBool>`(${sortColumn} >= ${value} and (${sortColumn} > ${value} or i.id > ${id}))`
        : sql<SqlBool>`(${sortColumn} <= ${value} and (${sortColumn} < ${value} or i.id < ${id}))`,
    );
  }
  return query;
}

/** Ideas of a workspace in a stable total order. */
export async function listIdeas(db: Db, options: IdeaListOptions): Promise<IdeaRow[]> {
  return await ideaListQuery(db, options).execute();
}

/** Newest ideas a person wrote, in workspaces they are (still) in. */
export async function ideasByAuthor(db: Db, userId: string, limit: number) {
  return await ideaRow(db, userId)
    .innerJoin('workspace as w', 'w.id', 'i.workspace_id')
    .innerJoin('membership as m', (j) =>
      j
        .onRef('m.workspace_id', '=', 'i.workspace_id')
        .on('m.user_id', '=', userId)
        .on('m.removed_at', 'is', null),
    )
    .select(['w.name as workspace_name', 'w.archived_at as workspace_archived_at', 'm.role'])
    .where('i.author_id', '=', userId)
    .orderBy('i.created_at', 'desc')
    .orderBy('i.id', 'desc')
    .limit(limit)
    .execute();
}

/** What the score of an idea needs of its workspace: who may rate, and the sums of all ratings. */
export interface RatingFrame {
  raters: number;
  ratings: number;
  sum: number;
}

/** Frames by workspace, in one query for all of them. */
export async function ratingFrames(
  db: Db | Trx,
  workspaceIds: readonly string[],
): Promise<Map<string, RatingFrame>> {
  if (workspaceIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('workspace as w')
    .select((eb) => [
      'w.id',
      eb
        .selectFrom('membership as m')
        .select((e) => e.fn.countAll().as('n'))
        .whereRef('m.workspace_id', '=', 'w.id')
        .where('m.removed_at', 'is', null)
        // Mirrors `mayRateAtAll` of the policy.
        .where('m.role', '<>', 'viewer')
        .as('raters'),
      eb
        .selectFrom('idea as i')
        .select(sql<string | null>`sum(i.rating_count)`.as('n'))
        .whereRef('i.workspace_id', '=', 'w.id')
        .where('i.removed_at', 'is', null)
        .as('ratings'),
      eb
        .selectFrom('idea as i')
        .select(sql<string | null>`sum(i.rating_sum)`.as('n'))
        .whereRef('i.workspace_id', '=', 'w.id')
        .where('i.removed_at', 'is', null)
        .as('sum'),
    ])
    .where('w.id', 'in', [...workspaceIds])
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      { raters: Number(row.raters ?? 0), ratings: Number(row.ratings ?? 0), sum: Number(row.sum ?? 0) },
    ]),
  );
}

/** The frame of one workspace; zeros when there is no such workspace. */
export async function ratingFrame(db: Db | Trx, workspaceId: string): Promise<RatingFrame> {
  return (await ratingFrames(db, [workspaceId])).get(workspaceId) ?? { raters: 0, ratings: 0, sum: 0 };
}

/** What the order of a ranking is made of, for every idea in it. */
export async function rankingRows(db: Db, workspaceId: string) {
  return await db
    .selectFrom('idea')
    .select(['id', 'rating_count', 'rating_sum', 'rating_sumsq', 'active_at'])
    .where('workspace_id', '=', workspaceId)
    .where('removed_at', 'is', null)
    .where('status', 'in', ['open', 'shortlisted', 'accepted'])
    .execute();
}

/** The idea's own row, locked until the transaction ends. */
export async function lockIdea(trx: Trx, id: string) {
  return await trx
    .selectFrom('idea')
    .selectAll()
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

export type LockedIdea = NonNullable<Awaited<ReturnType<typeof lockIdea>>>;

/**
 * Versions of an idea, newest first.
 * @param before only versions below this one
 * @param drafts also those from when the idea was a draft
 */
export async function ideaRevisions(
  db: Db,
  ideaId: string,
  options: { limit: number; before: number | null; drafts: boolean },
) {
  let query = db
    .selectFrom('idea_revision as v')
    .innerJoin('user as u', 'u.id', 'v.editor_id')
    .selectAll('v')
    .select('u.name as editor_name')
    .where('v.idea_id', '=', ideaId)
    .orderBy('v.version', 'desc')
    .limit(options.limit);
  if (options.before !== null) query = query.where('v.version', '<', options.before);
  if (!options.drafts) query = query.where('v.status', '<>', 'draft');
  return await query.execute();
}

/** The last version before another one that has a text of its own; null when there is none. */
export async function textVersionBefore(db: Db, ideaId: string, version: number): Promise<number | null> {
  const row = await db
    .selectFrom('idea_revision')
    .select('version')
    .where('idea_id', '=', ideaId)
    .where('version', '<', version)
    .where('has_body', '=', 1)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.version ?? null;
}
