import type { Client, Guidance, IdeaSummary, Role } from '@sparkroom/contract';
import { type ClientRow, type GuidanceRow, type IdeaRow, isoOf, parseJson } from '@sparkroom/mysql';
import type { Actor } from './core.ts';
import { mayEditClient, mayEditGuidance, mayRateIdea } from './policy.ts';
import { priorOf, type Sums, scoreOf } from './scoring.ts';

/** Who may rate in a workspace and the sums of all its ratings: what a score needs beside the idea's own sums. */
export interface Frame {
  raters: number;
  ratings: number;
  sum: number;
}

export const sumsOf = (row: { rating_count: number; rating_sum: number; rating_sumsq: number }): Sums => ({
  count: row.rating_count,
  sum: row.rating_sum,
  sumsq: row.rating_sumsq,
});

export const priorOfFrame = (frame: Frame) => priorOf({ count: frame.ratings, sum: frame.sum });

/** An idea's score; `authorRates` says whether its author is among the workspace's raters and so not eligible. */
export const ideaScore = (sums: Sums, frame: Frame, authorRates: boolean) =>
  scoreOf(sums, priorOfFrame(frame), Math.max(0, frame.raters - (authorRates ? 1 : 0)));

export function toIdeaSummary(row: IdeaRow, role: Role, frame: Frame, workspaceOpen: boolean): IdeaSummary {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    title: row.title,
    excerpt: row.excerpt,
    tags: parseJson(row.tags),
    author: { id: row.author_id, name: row.author_name },
    status: row.status,
    version: row.version,
    createdAt: isoOf(row.created_at),
    updatedAt: isoOf(row.updated_at),
    score: ideaScore(sumsOf(row), frame, row.author_rates !== null),
    myRating: row.my_rating,
    mayRate: workspaceOpen && mayRateIdea(role, { authorId: row.author_id, status: row.status }),
  };
}

export function toGuidance(actor: Actor, role: Role, row: GuidanceRow, workspaceOpen: boolean): Guidance {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    title: row.title,
    excerpt: row.excerpt,
    author: { id: row.author_id, name: row.author_name },
    version: row.version,
    createdAt: isoOf(row.created_at),
    updatedAt: isoOf(row.updated_at),
    may: { edit: workspaceOpen && mayEditGuidance(actor, role, { authorId: row.author_id }) },
  };
}

export function toClient(actor: Actor, row: ClientRow): Client {
  return {
    id: row.id,
    name: row.name,
    version: row.version,
    workspaceCount: Number(row.my_workspaces ?? 0),
    archivedAt: row.archived_at === null ? null : isoOf(row.archived_at),
    createdAt: isoOf(row.created_at),
    mayEdit: mayEditClient(actor, row),
  };
}

/** First lines for a card: line breaks become blanks, cut at 280 code points. */
export function excerptOf(text: string): string {
  const flat = [...text.replace(/\s+/g, ' ').trim()];
  return flat.length <= 280 ? flat.join('') : `${flat.slice(0, 279).join('')}…`;
}
