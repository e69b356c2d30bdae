import type { IdeaStatus, PlatformRole, Role } from '@sparkroom/contract';
import type { ColumnType, Generated, JSONColumnType } from 'kysely';

/**
 * Column types as they travel: BIGINT as decimal text, DATETIME(6) as `YYYY-MM-DD HH:MM:SS.ffffff` in UTC,
 * BOOLEAN as 0 or 1. Every column that is counted with in JavaScript is an INT.
 */
export type BigIntText = ColumnType<string, string | number | bigint | undefined, string | number | bigint>;
export type UtcText = string;
type Now = Generated<UtcText>;
export type Flag = ColumnType<0 | 1, boolean | 0 | 1, boolean | 0 | 1>;

export interface UserTable {
  id: string;
  name: string;
  email: string;
  email_verified: Flag;
  image: string | null;
  role: Generated<PlatformRole>;
  locale: 'en' | 'zh' | null;
  event_version: Generated<number>;
  announced_at: UtcText | null;
  created_at: Now;
  updated_at: Now;
}

/** better-auth's tables keep better-auth's column names. */
export interface SessionTable {
  id: string;
  userId: string;
  token: string;
  expiresAt: UtcText;
  ipAddress: string | null;
  userAgent: string | null;
  createdAt: UtcText;
  updatedAt: UtcText;
}

export interface AccountTable {
  id: string;
  userId: string;
  accountId: string;
  providerId: string;
  password: string | null;
  createdAt: UtcText;
  updatedAt: UtcText;
}

export interface ClientTable {
  id: string;
  name: string;
  version: Generated<number>;
  created_by: string | null;
  archived_at: UtcText | null;
  created_at: Now;
  updated_at: Now;
}

export interface WorkspaceTable {
  id: string;
  client_id: string;
  name: string;
  description: Generated<string>;
  version: Generated<number>;
  created_by: string | null;
  archived_at: UtcText | null;
  created_at: Now;
  updated_at: Now;
}

export interface MembershipTable {
  workspace_id: string;
  user_id: string;
  role: Role;
  event_version: Generated<number>;
  removed_at: UtcText | null;
  created_at: Now;
}

export interface InvitationTable {
  id: string;
  workspace_id: string;
  email: string;
  role: Role;
  token_hash: Buffer;
  invited_by: string;
  open_mark: Generated<1 | null>;
  accepted_by: string | null;
  closed_at: UtcText | null;
  expires_at: UtcText;
  created_at: Now;
}

export interface IdeaTable {
  id: string;
  workspace_id: string;
  author_id: string;
  status: IdeaStatus;
  status_reason: string | null;
  title: string;
  excerpt: string;
  tags: JSONColumnType<string[], string, string>;
  version: Generated<number>;
  body_version: Generated<number>;
  stored_version: Generated<number>;
  event_version: Generated<number>;
  rating_count: Generated<number>;
  rating_sum: Generated<number>;
  rating_sumsq: Generated<number>;
  active_at: Now;
  removed_at: UtcText | null;
  created_at: Now;
  updated_at: Now;
}

export interface IdeaPendingTable {
  idea_id: string;
  version: number;
  body: JSONColumnType<{ text: string }, string, string>;
  created_at: Now;
}

export interface GuidancePendingTable {
  guidance_id: string;
  version: number;
  body: JSONColumnType<{ text: string }, string, string>;
  created_at: Now;
}

export interface IdeaRevisionTable {
  idea_id: string;
  version: number;
  kind: 'created' | 'revised' | 'statusChanged';
  title: string;
  status: IdeaStatus;
  reason: string | null;
  has_body: Flag;
  editor_id: string;
  created_at: Now;
}

export interface RatingTable {
  idea_id: string;
  user_id: string;
  stars: number;
  counted: Flag;
  idea_version: number;
  created_at: Now;
  updated_at: Now;
}

export interface GuidanceTable {
  id: string;
  workspace_id: string;
  author_id: string;
  title: string;
  excerpt: string;
  version: Generated<number>;
  body_version: Generated<number>;
  stored_version: Generated<number>;
  event_version: Generated<number>;
  removed_at: UtcText | null;
  created_at: Now;
  updated_at: Now;
}

export interface OutboxTable {
  id: Generated<string>;
  event_id: string;
  aggregate_type: string;
  aggregate_id: string;
  aggregate_version: BigIntText;
  workspace_id: string | null;
  actor_id: string | null;
  request_id: string | null;
  type: string;
  schema_version: number;
  subject: string;
  payload: JSONColumnType<object, string, string>;
  traceparent: string | null;
  partition_no: number;
  created_at: Now;
  published_at: UtcText | null;
  first_attempt_at: UtcText | null;
  stream_seq: ColumnType<string | null, string | number | null | undefined, string | number | null>;
  attempts: Generated<number>;
  last_error: string | null;
  /** How often the stream lost it. */
  republished: Generated<number>;
}

export interface InboxTable {
  consumer: string;
  event_id: string;
  processed_at: Now;
}

export interface DeadLetterTable {
  consumer: string;
  event_id: string;
  subject: string;
  stream_seq: BigIntText;
  payload: JSONColumnType<object, string, string>;
  headers: JSONColumnType<Record<string, string>, string, string>;
  error: string;
  attempts: number;
  state: Generated<string>;
  failed_at: Now;
}

export interface AuditTable {
  id: Generated<string>;
  actor_id: string | null;
  action: string;
  target_type: string;
  target_id: string;
  workspace_id: string | null;
  private: Flag;
  detail: JSONColumnType<Record<string, unknown>, string, string>;
  request_id: string | null;
  created_at: Now;
}

/** Counts changes of collections; read and written by queries/versions.ts alone. */
export interface CollectionVersionTable {
  scope: string;
  id: string;
  shard: number;
  version: BigIntText;
}

export interface Tables {
  collection_version: CollectionVersionTable;
  user: UserTable;
  session: SessionTable;
  account: AccountTable;
  client: ClientTable;
  workspace: WorkspaceTable;
  membership: MembershipTable;
  invitation: InvitationTable;
  idea: IdeaTable;
  idea_pending: IdeaPendingTable;
  idea_revision: IdeaRevisionTable;
  rating: RatingTable;
  guidance: GuidanceTable;
  guidance_pending: GuidancePendingTable;
  outbox: OutboxTable;
  inbox: InboxTable;
  dead_letter: DeadLetterTable;
  audit: AuditTable;
}
