/**
 * `npm run subscriber -- --name acme --workspace <id>`: lets a program from outside hear one workspace.
 *
 * Makes its durable, adds it to the server's users file (`--users`, default that of `npm start`) with a new password,
 * and tells the server to read it again. Prints the credentials, once.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  connectEvents,
  type Log,
  type NatsUser,
  readEventsSettings,
  subscriberUser,
  sureSubscriber,
} from '../src/index.ts';

const usage =
  'Usage: npm run subscriber -- --name <name> --workspace <id> [--from-the-beginning] [--users <file>]';
const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

async function add(): Promise<void> {
  const { values } = parseArgs({
    options: {
      name: { type: 'string' },
      workspace: { type: 'string' },
      users: { type: 'string' },
      'from-the-beginning': { type: 'boolean', default: false },
    },
  });
  const { name, workspace: workspaceId } = values;
  if (!name || !workspaceId) throw new Error(usage);
  const file = values.users ?? join(import.meta.dirname, '../../../.sparkroom/data/nats/users.conf');
  if (!existsSync(file)) throw new Error(`${file} is missing: name the server's users file with --users`);
  const users = JSON.parse(readFileSync(file, 'utf8').replace(/^users = /, '')) as NatsUser[];
  const own = users.find(({ user }) => user === 'sparkroom');

  const settings = readEventsSettings(
    // Beside a running `npm start` nothing needs to be said.
    { SPARKROOM_NATS_URL: own && `nats://sparkroom:${own.password}@127.0.0.1:14222`, ...process.env },
    'add-subscriber',
  );
  const user = subscriberUser(settings.prefix, {
    name,
    workspaceId,
    password: randomBytes(24).toString('base64url'),
  });
  const events = await connectEvents(settings, quiet);
  try {
    await sureSubscriber(events, { name, workspaceId, start: values['from-the-beginning'] ? 'all' : 'new' });
  } finally {
    await events.close();
  }
  const rest = users.filter((one) => one.user !== name);
  writeFileSync(`${file}.new`, `users = ${JSON.stringify([...rest, user])}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  const pidFile = join(dirname(file), 'nats.pid');
  const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0;
  if (pid > 0) process.kill(pid, 'SIGHUP');
  else console.error('Tell the server to read its configuration again: nats-server --signal reload');
  console.log(JSON.stringify({ user: user.user, password: user.password, workspaceId }));
}

try {
  await add();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
