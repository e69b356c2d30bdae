import { migrate, openMysql, readMysqlSettings } from '../src/index.ts';

/** Migrates the database at the given address and says how many migrations this process applied. */
const url = process.argv[2] ?? '';
const mysql = await openMysql({ ...readMysqlSettings({ SPARKROOM_MYSQL_URL: url }), connections: 2 });
process.stdout.write(String(await migrate(mysql.db)));
await mysql.close();
