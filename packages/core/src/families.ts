import { defineFamily } from '@sparkroom/cache';
import type { Body, Me, Member, MyClient, Paged } from '@sparkroom/contract';
import type { IdeaRow, RoomCounts } from '@sparkroom/mysql';

/**
 * Every kind of cached value. What is read is never older than the version that the same request has read from SQL
 * together with the right to see it (docs/decisions/0007-cache-by-version.md); rights themselves are never cached.
 */

const HOUR = 3600;
const KB = 1024;

/** `body:<id of idea or guidance>`: a text. */
export const BODY = defineFamily<Body>({
  name: 'body',
  version: "body_version of the text's row",
  ttlSeconds: 24 * HOUR,
  maxBytes: 256 * KB,
  memory: true,
  redis: true,
});

/** `me:<user>`: an account. */
export const ME = defineFamily<Me>({
  name: 'me',
  version: 'collection user of the person',
  ttlSeconds: HOUR,
  maxBytes: 4 * KB,
  memory: true,
  redis: true,
});

/** `my-clients:<user>`, by page length: the first page. */
export const MY_CLIENTS = defineFamily<Paged<MyClient>>({
  name: 'my-clients',
  version: 'collection user of the person',
  ttlSeconds: HOUR,
  maxBytes: 64 * KB,
  memory: true,
  redis: true,
});

/** What a list of workspaces shows of one that its members' lists follow; counts come from {@link COUNTS}. */
export interface ListedWorkspace {
  id: string;
  name: string;
  client: { id: string; name: string };
  role: Member['role'];
  version: number;
  archivedAt: string | null;
  createdAt: string;
}

/** `my-workspaces:<user>`, by page length and archived or not: the first page. */
export const MY_WORKSPACES = defineFamily<Paged<ListedWorkspace>>({
  name: 'my-workspaces',
  version: 'collection user of the person',
  ttlSeconds: HOUR,
  maxBytes: 128 * KB,
  memory: true,
  redis: true,
});

/** `counts:<workspace>`: members, ideas, drafts by author (only the own ones are shown to anybody). */
export const COUNTS = defineFamily<RoomCounts>({
  name: 'counts',
  version: 'collection room of the workspace',
  ttlSeconds: HOUR,
  maxBytes: 16 * KB,
  memory: true,
  redis: true,
});

/** `members:<workspace>`, by page length: the first page. */
export const MEMBERS = defineFamily<Paged<Member>>({
  name: 'members',
  version: 'collection room of the workspace',
  ttlSeconds: HOUR,
  maxBytes: 64 * KB,
  memory: true,
  redis: true,
  keptFrom: 'second',
});

/** An idea as everybody in the workspace sees it: nobody's own rating in it. */
export type SharedIdea = Omit<IdeaRow, 'my_rating'>;

export interface RatingFrame {
  raters: number;
  ratings: number;
  sum: number;
}

/** `ideas:<workspace>`, by order and page length: the first page without drafts. */
export const IDEAS = defineFamily<{ rows: SharedIdea[]; frame: RatingFrame }>({
  name: 'ideas',
  version: 'collections room and rated of the workspace',
  ttlSeconds: HOUR,
  maxBytes: 256 * KB,
  memory: true,
  redis: true,
  keptFrom: 'second',
});

/** `ranking:<workspace>`, by page length: the first page. */
export const RANKING = defineFamily<{
  ideas: Array<{ row: SharedIdea; rank: number; band: number }>;
  frame: RatingFrame;
  nextCursor: string | null;
  total: number;
}>({
  name: 'ranking',
  version: 'collections room and rated of the workspace',
  ttlSeconds: HOUR,
  maxBytes: 256 * KB,
  memory: true,
  redis: true,
  keptFrom: 'second',
});

/** `own:<workspace>:<user>`, by the page it belongs to: one person's stars of its ideas, and whether they have drafts. */
export const OWN = defineFamily<{ stars: Record<string, number | null>; drafts: boolean }>({
  name: 'own',
  version: 'collections room, rated and own',
  ttlSeconds: HOUR,
  maxBytes: 64 * KB,
  memory: true,
  redis: false,
  keptFrom: 'second',
});

/** `pulse:<workspace>`, by person: how far the rating is. */
export const PULSE = defineFamily<{ rateable: number; toRate: number; rated: number; decided: number }>({
  name: 'pulse',
  version: 'collections room, rated and own',
  ttlSeconds: HOUR,
  maxBytes: KB,
  memory: true,
  redis: false,
  keptFrom: 'second',
});
