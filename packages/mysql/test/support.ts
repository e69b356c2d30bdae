import type { Role } from '@sparkroom/contract';
import {
  ensureDatabase,
  type Mysql,
  type MysqlSettings,
  migrate,
  openMysql,
  readMysqlSettings,
} from '../src/index.ts';

/** Settings of a database of the test file's own. */
export function settingsOf(name: string, more: Partial<MysqlSettings> = {}): MysqlSettings {
  const settings = readMysqlSettings(process.env);
  const url = new URL(settings.url);
  url.pathname = `/sparkroom_${name}_${process.pid}`;
  return { ...settings, url: url.href, ...more };
}

/** A migrated database of the test file's own. */
export async function openDatabase(name: string, more: Partial<MysqlSettings> = {}): Promise<Mysql> {
  const settings = settingsOf(name, more);
  await ensureDatabase(settings.url);
  const mysql = await openMysql(settings);
  await migrate(mysql.db);
  return mysql;
}

let counted = 0;
/** 26 characters, each call greater than the one before. */
export const eventId = (): string => `01TEST${String(++counted).padStart(20, '0')}`;

export async function insertUser(mysql: Mysql, id: string, name = id): Promise<void> {
  await mysql.db
    .insertInto('user')
    .values({
      id,
      name,
      email: `${Buffer.from(id).toString('hex')}@sparkroom.example`,
      email_verified: false,
      image: null,
      locale: null,
      announced_at: null,
    })
    .execute();
}

/** A workspace with its owner and one client, all under the given id. */
export async function insertWorkspace(mysql: Mysql, id: string, ownerId: string): Promise<void> {
  await mysql.db
    .insertInto('client')
    .values({ id, name: `client ${id}`, created_by: ownerId, archived_at: null })
    .execute();
  await mysql.db
    .insertInto('workspace')
    .values({ id, client_id: id, name: `workspace ${id}`, created_by: ownerId, archived_at: null })
    .execute();
  await insertMember(mysql, id, ownerId, 'owner');
}

export async function insertMember(
  mysql: Mysql,
  workspaceId: string,
  userId: string,
  role: Role,
): Promise<void> {
  await mysql.db
    .insertInto('membership')
    .values({ workspace_id: workspaceId, user_id: userId, role, removed_at: null })
    .execute();
}

export async function insertIdea(
  mysql: Mysql,
  idea: { id: string; workspaceId: string; authorId: string; title?: string },
): Promise<void> {
  await mysql.db
    .insertInto('idea')
    .values({
      id: idea.id,
      workspace_id: idea.workspaceId,
      author_id: idea.authorId,
      status: 'open',
      status_reason: null,
      title: idea.title ?? idea.id,
      excerpt: 'excerpt',
      tags: '[]',
      removed_at: null,
    })
    .execute();
}

/** Something another party opens from outside, as a promise. */
export function door(): { open(): void; opened: Promise<void> } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

export async function until(condition: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`did not come true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Whether the server would sort rows for a query instead of reading them in order, and its plan in full. */
export async function planOf(query: {
  explain(format: 'json'): Promise<object[]>;
}): Promise<{ sorts: boolean; text: string }> {
  const [row] = await query.explain('json');
  const plan = Object.values(row ?? {})[0];
  const text = JSON.stringify(typeof plan === 'string' ? JSON.parse(plan) : plan);
  // MariaDB, MySQL's older form, MySQL's newer form.
  return { sorts: /"filesort":|"using_filesort":true|"operation":"Sort/.test(text), text };
}
