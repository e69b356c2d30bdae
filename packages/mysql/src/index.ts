export {
  type BodyKind,
  type BodyProjection,
  bodiesOf,
  insertPending,
  type PendingBody,
  pendingBodies,
} from './bodies.ts';
export {
  type AuthDatabase,
  type Db,
  ensureDatabase,
  type Mysql,
  openAuthDatabase,
  openMysql,
  type Trx,
} from './database.ts';
export { type Flavour, inserted, now, parseJson } from './dialect.ts';
export { isDuplicate, isTransient } from './errors.ts';
export { type DeadLetterRow, type Inbox, inboxOf } from './inbox.ts';
export { isMigrated, migrate } from './migrate.ts';
export {
  insertEvent,
  isoOf,
  MAX_PAYLOAD,
  type NewEvent,
  type Outbox,
  type OutboxRow,
  type OutboxSession,
  outboxOf,
  PARTITIONS,
  partitionOf,
} from './outbox.ts';
export { outboxAuditOf, type Placed } from './outbox-audit.ts';
export * from './queries/audit.ts';
export * from './queries/clients.ts';
export * from './queries/guidance.ts';
export * from './queries/ideas.ts';
export * from './queries/invitations.ts';
export * from './queries/members.ts';
export * from './queries/ratings.ts';
export * from './queries/users.ts';
export * from './queries/versions.ts';
export * from './queries/workspaces.ts';
export { type MysqlSettings, readMysqlSettings } from './settings.ts';
export type * from './types.ts';
