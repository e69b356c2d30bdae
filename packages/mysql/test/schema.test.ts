import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ensureDatabase,
  ideaListQuery,
  ideaSorts,
  isMigrated,
  type Mysql,
  migrate,
  openMysql,
} from '../src/index.ts';
import {
  insertIdea,
  insertMember,
  insertUser,
  insertWorkspace,
  openDatabase,
  planOf,
  settingsOf,
} from './support.ts';

const run = promisify(execFile);
let mysql: Mysql;
beforeAll(async () => {
  mysql = await openDatabase('schema');
});
afterAll(() => mysql?.close());

describe('values', () => {
  test('are exact: large numbers, decimals, microseconds in UTC, JSON', async () => {
    await sql`create table exact (
      big bigint, ubig bigint unsigned, amount decimal(30, 10), at datetime(6), stamp timestamp(6), flag boolean, body json
    )`.execute(mysql.db);
    const row = {
      big: '9007199254740993',
      ubig: '18446744073709551615',
      amount: '12345678901234567890.0123456789',
      at: '2026-03-29 01:30:00.123456',
    };
    await sql`insert into exact values (${row.big}, ${row.ubig}, ${row.amount}, ${row.at}, ${row.at}, true, ${'{"t":"想 🧪"}'})`.execute(
      mysql.db,
    );
    await sql`insert into exact (big) values (${9007199254740993n})`.execute(mysql.db);
    const { rows } = await sql<Record<string, unknown>>`select * from exact order by amount desc`.execute(
      mysql.db,
    );
    expect(rows[0]).toMatchObject({ ...row, stamp: row.at, flag: 1 });
    expect(rows[1]?.big).toBe('9007199254740993');
    const body = rows[0]?.body;
    expect(typeof body === 'string' ? JSON.parse(body) : body).toEqual({ t: '想 🧪' });
  });

  test.each(['America/New_York', 'Asia/Shanghai', 'UTC'])('are the same in a process of %s', async (TZ) => {
    const script = fileURLToPath(new URL('./write-and-read.ts', import.meta.url));
    const { stdout } = await run(process.execPath, [script, settingsOf('schema').url], {
      env: { ...process.env, TZ },
    });
    const said = JSON.parse(stdout) as { zone: string; written: string; stored: string; agoMs: number };
    expect(said.zone).toBe(TZ);
    expect(said.stored).toBe(said.written);
    // The database's clock, read as UTC, is the process's clock.
    expect(Math.abs(said.agoMs)).toBeLessThan(10_000);
  });

  test('that do not fit are refused, not cut', async () => {
    const values = { id: 'long', created_by: null, archived_at: null };
    await expect(
      mysql.db
        .insertInto('client')
        .values({ ...values, name: 'x'.repeat(121) })
        .execute(),
    ).rejects.toMatchObject({ errno: 1406 });
    await expect(
      mysql.db
        .insertInto('client')
        .values({ ...values, id: '想', name: 'x' })
        .execute(),
    ).rejects.toThrow();
  });

  test('ids that differ only in case, or in a trailing blank, are two', async () => {
    for (const id of ['case', 'CASE', 'Case']) await insertUser(mysql, id);
    await insertWorkspace(mysql, 'room', 'case');
    await insertWorkspace(mysql, 'ROOM', 'CASE');
    await insertIdea(mysql, { id: 'idea', workspaceId: 'room', authorId: 'case' });
    await insertIdea(mysql, { id: 'IDEA', workspaceId: 'ROOM', authorId: 'CASE' });
    const rooms = await mysql.db.selectFrom('workspace').select('id').where('id', '=', 'ROOM').execute();
    expect(rooms).toEqual([{ id: 'ROOM' }]);
    const ideas = await mysql.db
      .selectFrom('idea')
      .select(['id', 'author_id'])
      .where('workspace_id', '=', 'room')
      .execute();
    expect(ideas).toEqual([{ id: 'idea', author_id: 'case' }]);
    // Every column that holds an id compares byte by byte.
    const { rows } = await sql<{ name: string; collation: string }>`
      select concat(table_name, '.', column_name) as name, collation_name as collation
      from information_schema.columns
      where table_schema = database() and table_name not like 'kysely%'
        and (column_name = 'id' or column_name like '%\\_id' or column_name in ('userId', 'token'))
        and collation_name is not null
        and concat(table_name, '.', column_name) <> 'outbox.request_id'
        and concat(table_name, '.', column_name) <> 'audit.request_id'`.execute(mysql.db);
    expect(rows.length).toBeGreaterThan(25);
    expect(rows.filter((r) => r.collation !== 'ascii_bin')).toEqual([]);
  });

  test('texts take every script: each text column is utf8mb4', async () => {
    const { rows } = await sql<{ name: string; set: string }>`
      select concat(table_name, '.', column_name) as name, character_set_name as \`set\`
      from information_schema.columns
      where table_schema = database() and table_name not like 'kysely%' and table_name <> 'exact'
        and character_set_name is not null`.execute(mysql.db);
    const texts = rows.filter((r) =>
      /\.(name|title|excerpt|tags|description|reason|status_reason|email|detail|payload|body|last_error|error)$/.test(
        r.name,
      ),
    );
    // MySQL keeps JSON columns in utf8mb4 without saying so.
    expect(texts.length).toBeGreaterThanOrEqual(15);
    expect(texts.filter((r) => r.set !== 'utf8mb4')).toEqual([]);
    await insertUser(mysql, 'emoji', '名字 👩‍🔬');
    const user = await mysql.db
      .selectFrom('user')
      .select('name')
      .where('id', '=', 'emoji')
      .executeTakeFirst();
    expect(user?.name).toBe('名字 👩‍🔬');
  });
});

describe('migrations', () => {
  test('run once; again there is nothing to do', async () => {
    expect(await isMigrated(mysql.db)).toBe(true);
    const reported: string[] = [];
    expect(await migrate(mysql.db, (name) => reported.push(name))).toBe(0);
    expect(reported).toEqual([]);
  });

  test('run once when two processes start them at the same moment', async () => {
    const { url } = settingsOf('two_migrators');
    await ensureDatabase(url);
    const script = fileURLToPath(new URL('./migrate-once.ts', import.meta.url));
    const results = await Promise.all([1, 2].map(() => run(process.execPath, [script, url])));
    const applied = results.map((r) => Number(r.stdout));
    const empty = await openMysql(settingsOf('two_migrators', { connections: 1 }));
    const { rows } = await sql<{ n: string }>`select count(*) as n from kysely_migration`.execute(empty.db);
    expect(applied.sort((a, b) => a - b)).toEqual([0, Number(rows[0]?.n)]);
    expect(await isMigrated(empty.db)).toBe(true);
    await empty.close();
  });

  test('a database without them is not ready, and an older one neither', async () => {
    const settings = settingsOf('empty', { connections: 1 });
    await ensureDatabase(settings.url);
    await ensureDatabase(settings.url);
    const empty = await openMysql(settings);
    expect(await isMigrated(empty.db)).toBe(false);
    await migrate(empty.db);
    expect(await isMigrated(empty.db)).toBe(true);
    await sql`delete from kysely_migration order by name desc limit 1`.execute(empty.db);
    expect(await isMigrated(empty.db)).toBe(false);
    await empty.close();
  });

  test('a database’s name cannot carry SQL', async () => {
    const url = new URL(settingsOf('x').url);
    url.pathname = '/a`; drop database b; --';
    await expect(ensureDatabase(url.href)).rejects.toThrow('The MySQL URL must name a database');
  });
});

describe('plans', () => {
  beforeAll(async () => {
    await insertUser(mysql, 'planner');
    await insertUser(mysql, 'other');
    for (let w = 0; w < 20; w++) {
      const id = `plan${w}`;
      await insertWorkspace(mysql, id, 'planner');
      await insertMember(mysql, id, 'other', 'member');
      const ideas = Array.from({ length: 200 }, (_, i) => ({
        id: `${id}-${i}`,
        workspace_id: id,
        author_id: i % 2 ? 'planner' : 'other',
        status: 'open' as const,
        status_reason: null,
        title: `title ${(i * 7919) % 200}`,
        excerpt: '',
        tags: '[]',
        removed_at: null,
        created_at: `2026-01-01 00:${String(i % 60).padStart(2, '0')}:00.000000`,
        active_at: `2026-01-02 00:${String((i * 7) % 60).padStart(2, '0')}:00.000000`,
      }));
      await mysql.db.insertInto('idea').values(ideas).execute();
      await mysql.db
        .insertInto('rating')
        .values(
          ideas.slice(0, 50).map((idea) => ({
            idea_id: idea.id,
            user_id: 'other',
            stars: 3,
            counted: true,
            idea_version: 1,
          })),
        )
        .execute();
    }
    await sql`analyze table idea, user, rating, membership, workspace`.execute(mysql.db);
  });

  const sorts = Object.keys(ideaSorts) as Array<keyof typeof ideaSorts>;
  test.each(sorts)('a page of ideas by %s is read by its index, not sorted', async (sort) => {
    for (const filter of ['all', 'unrated'] as const) {
      for (const after of [
        null,
        { value: sort === 'title' ? 'title 5' : '2026-01-01 00:30:00.000000', id: 'plan3-9' },
      ]) {
        const plan = await planOf(
          ideaListQuery(mysql.db, {
            workspaceId: 'plan3',
            userId: 'planner',
            sort,
            statuses: null,
            filter,
            limit: 21,
            after,
          }),
        );
        expect([sort, filter, after, plan.sorts ? plan.text : false]).toEqual([sort, filter, after, false]);
      }
    }
  });
});
