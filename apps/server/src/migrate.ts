import { openCloudant, readCloudantSettings } from '@sparkroom/cloudant';
import { connectEvents, readEventsSettings } from '@sparkroom/events';
import { ensureDatabase, migrate, openMysql, readMysqlSettings } from '@sparkroom/mysql';
import { createLog } from './log.ts';

/** Brings every store to what this version needs. Safe to repeat and to run while the site is up. */
const mysqlSettings = readMysqlSettings(process.env);
await ensureDatabase(mysqlSettings.url);
const mysql = await openMysql({ ...mysqlSettings, statementMs: 600_000 });
const applied = await migrate(mysql.db, (name) => console.log(`mysql: ${name}`));
console.log(applied === 0 ? 'mysql: up to date' : `mysql: ${applied} migrations applied`);
await mysql.close();

const cloudant = openCloudant(readCloudantSettings(process.env));
await cloudant.ensureDatabases();
await cloudant.deploy();
console.log('cloudant: databases, design documents and indexes are up to date');
await cloudant.close();

const events = await connectEvents(readEventsSettings(process.env, 'migrate'), createLog('migrate', 'warn'));
await events.ensureStream();
console.log('nats: stream is up to date');
await events.close();
