import type { BodyInput } from '@sparkroom/cloudant';
import type { IdeaStatus, PlatformRole, Role } from '@sparkroom/contract';

/** Rows as the tables of `@sparkroom/mysql` take them; what is left out has its default. */
export interface UserRow {
  id: string;
  name: string;
  email: string;
  email_verified: boolean;
  image: null;
  role: PlatformRole;
  /** Not chosen: the browser's language. */
  locale: null;
  event_version: number;
  announced_at: string;
  created_at: string;
  updated_at: string;
}

export interface ClientRow {
  id: string;
  name: string;
  created_by: string;
  archived_at: null;
  created_at: string;
  updated_at: string;
}

export interface WorkspaceRow extends ClientRow {
  client_id: string;
  description: string;
}

export interface MembershipRow {
  workspace_id: string;
  user_id: string;
  role: Role;
  removed_at: null;
  created_at: string;
}

interface TextRow {
  id: string;
  workspace_id: string;
  author_id: string;
  title: string;
  excerpt: string;
  version: number;
  body_version: number;
  stored_version: number;
  event_version: number;
  removed_at: null;
  created_at: string;
  updated_at: string;
}

export interface IdeaRow extends TextRow {
  status: IdeaStatus;
  status_reason: string | null;
  /** JSON text. */
  tags: string;
  rating_count: number;
  rating_sum: number;
  rating_sumsq: number;
  active_at: string;
}

export type GuidanceRow = TextRow;

export interface RevisionRow {
  idea_id: string;
  version: number;
  kind: 'created' | 'revised' | 'statusChanged';
  title: string;
  status: IdeaStatus;
  reason: string | null;
  has_body: boolean;
  editor_id: string;
  created_at: string;
}

export interface RatingRow {
  idea_id: string;
  user_id: string;
  stars: number;
  counted: boolean;
  idea_version: number;
  created_at: string;
  updated_at: string;
}

export interface AuditRow {
  actor_id: string;
  action: string;
  target_type: string;
  target_id: string;
  workspace_id: string | null;
  private: boolean;
  /** JSON text. */
  detail: string;
  request_id: null;
  created_at: string;
}

/** Data that can be stored together, after the chunks before it. */
export interface Chunk {
  user: UserRow[];
  client: ClientRow[];
  workspace: WorkspaceRow[];
  membership: MembershipRow[];
  idea: IdeaRow[];
  idea_revision: RevisionRow[];
  rating: RatingRow[];
  guidance: GuidanceRow[];
  audit: AuditRow[];
  /** For the document store. */
  bodies: BodyInput[];
}

export const emptyChunk = (): Chunk => ({
  user: [],
  client: [],
  workspace: [],
  membership: [],
  idea: [],
  idea_revision: [],
  rating: [],
  guidance: [],
  audit: [],
  bodies: [],
});

/** Adds everything in `more` to `chunk`. */
export function append(chunk: Chunk, more: Chunk): void {
  for (const key of Object.keys(chunk) as Array<keyof Chunk>) {
    const target: unknown[] = chunk[key];
    for (const row of more[key]) target.push(row);
  }
}

/** `2026-11-30 09:12:05.123000` in UTC, as DATETIME(6) takes it. */
export const sqlTime = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, 23).replace('T', ' ')}000`;

export const hour = 3_600_000;
export const day = 24 * hour;
