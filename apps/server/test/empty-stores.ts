import { type Cloudant, openCloudant, readCloudantSettings } from '@sparkroom/cloudant';
import { ensureDatabase, type Mysql, migrate, openMysql, readMysqlSettings } from '@sparkroom/mysql';

/** Migrated MySQL and document databases of a test file's own, on the test run's servers. */
export async function openEmptyStores(name: string): Promise<{ mysql: Mysql; cloudant: Cloudant }> {
  const url = new URL(process.env.SPARKROOM_MYSQL_URL ?? '');
  url.pathname = `/sparkroom_${name}_${process.pid}`;
  await ensureDatabase(url.href);
  const mysql = await openMysql({
    ...readMysqlSettings({ ...process.env, SPARKROOM_MYSQL_URL: url.href }),
    connections: 4,
  });
  await migrate(mysql.db);
  const cloudant = openCloudant({
    ...readCloudantSettings(process.env),
    prefix: `${name}-${process.pid}`,
    deadlineMs: 30_000,
  });
  await cloudant.ensureDatabases();
  return { mysql, cloudant };
}
