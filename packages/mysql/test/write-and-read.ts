import { openMysql, readMysqlSettings } from '../src/index.ts';

/** Writes a time, reads it back, and says what this process's clock and zone make of the database's clock. */
const url = process.argv[2] ?? '';
const mysql = await openMysql({ ...readMysqlSettings({ SPARKROOM_MYSQL_URL: url }), connections: 1 });
const written = '2026-07-01 12:34:56.123456';
const id = `tz-${process.pid}`;
await mysql.db
  .insertInto('client')
  .values({ id, name: 'zone', created_by: null, archived_at: written })
  .execute();
const row = await mysql.db
  .selectFrom('client')
  .select(['archived_at', 'created_at'])
  .where('id', '=', id)
  .executeTakeFirstOrThrow();
await mysql.close();
process.stdout.write(
  JSON.stringify({
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    written,
    stored: row.archived_at,
    agoMs: Date.now() - Date.parse(`${row.created_at.replace(' ', 'T')}Z`),
  }),
);
