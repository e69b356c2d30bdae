import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sureFolder } from '../folders.ts';
import { findProgram, programVersion } from '../programs.ts';
import { answers, type Store, type StoreSite } from './store.ts';

/** NATS with JetStream, its streams in a folder of their own. */
export async function natsStore(env: NodeJS.ProcessEnv): Promise<Store | undefined> {
  const server = findProgram('nats-server', env);
  if (server === undefined) return undefined;
  const version = /v?(\d+)\.(\d+)\.(\d+)/.exec(await programVersion(server)) ?? ['', '0', '0', '0'];
  // Earlier servers refuse the setting.
  const hasSyncInterval = Number(version[1]) > 2 || Number(version[2]) >= 10;

  const configuration = (site: StoreSite): string =>
    [
      `listen: "127.0.0.1:${site.port}"`,
      `pid_file: ${JSON.stringify(join(site.data, 'nats.pid'))}`,
      // Nobody connects without a name and a password.
      'authorization { include "users.conf" }',
      // The server's default, made explicit: events carry whole idea bodies.
      'max_payload: 1048576',
      'jetstream {',
      `  store_dir: ${JSON.stringify(site.data)}`,
      // The default is two minutes; a power cut should cost less than that.
      ...(hasSyncInterval && site.durable ? ['  sync_interval: "1s"'] : []),
      '}',
      '',
    ].join('\n');

  return {
    name: 'nats',
    label: `NATS ${version.slice(1).join('.')}`,
    stopMs: 10_000,
    prepare: async (site) => {
      await sureFolder(site.data);
      await writeFile(join(site.data, 'nats.conf'), configuration(site));
      await writeUsers(join(site.data, 'users.conf'), site.password);
    },
    command: (site) => ({ file: server, args: ['-c', join(site.data, 'nats.conf')] }),
    isReady: (site) => answers(site.port, '', (data) => data.toString().startsWith('INFO ')),
    url: (site) => `nats://sparkroom:${site.password}@127.0.0.1:${site.port}`,
  };
}

/**
 * Writes who may connect: ourselves with every right, and the subscribers that are there already, whom
 * packages/events/scripts/add-subscriber.ts adds. One line, `users = ` and JSON, which the server reads as it is.
 */
export async function writeUsers(file: string, password: string): Promise<void> {
  let others: { user: string }[] = [];
  try {
    const known = JSON.parse((await readFile(file, 'utf8')).replace(/^users = /, '')) as { user: string }[];
    others = known.filter(({ user }) => user !== 'sparkroom');
  } catch {
    // None yet.
  }
  const users = [{ user: 'sparkroom', password }, ...others];
  await writeFile(`${file}.new`, `users = ${JSON.stringify(users)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
