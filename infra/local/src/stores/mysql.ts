import { execFile } from 'node:child_process';
import { cp, rename, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { hasFolder, sureFolder } from '../folders.ts';
import { findProgram, programVersion } from '../programs.ts';
import { diskFull, LauncherError, saysDiskFull } from '../trouble.ts';
import { answers, type Store, type StoreSite } from './store.ts';

const run = promisify(execFile);

/**
 * MySQL or MariaDB, whichever is installed (`SPARKROOM_MYSQLD` names another binary).
 *
 * Root can log in only through the socket, which lies in the data folder that only its owner may enter.
 * The user `sparkroom` may do everything in databases whose name begins with `sparkroom`, and nothing else.
 *
 * @param template folder with an empty, initialised data folder to copy (made on first use); saves seconds
 *   in tests.
 * @returns `undefined` when neither is installed.
 */
export async function mysqlStore(env: NodeJS.ProcessEnv, template?: string): Promise<Store | undefined> {
  const server = env.SPARKROOM_MYSQLD || findProgram('mariadbd', env) || findProgram('mysqld', env);
  if (server === undefined) return undefined;
  const version = await programVersion(server);
  const isMariaDb = /mariadb/i.test(version);
  const installer = findProgram('mariadb-install-db', env) ?? findProgram('mysql_install_db', env);
  if (isMariaDb && (installer === undefined || !findProgram('my_print_defaults', env))) return undefined;
  const number = /(\d+\.\d+\.\d+)/.exec(version)?.[1] ?? '';

  return {
    name: 'mysql',
    label: `${isMariaDb ? 'MariaDB' : 'MySQL'} ${number}`,
    stopMs: 20_000,

    async prepare(site, log) {
      if (!(await hasFolder(site.data))) {
        if (template === undefined) {
          log('making an empty database folder (once, some seconds)');
          await initialise(site.data);
        } else {
          const ready = `${template}-${isMariaDb ? 'mariadb' : 'mysql'}-${number}`;
          if (await hasFolder(ready)) log('copying the prepared database folder');
          else {
            log('preparing an empty database folder (once, some seconds)');
            await initialise(ready);
          }
          await cp(ready, `${site.data}.new`, { recursive: true });
          await rename(`${site.data}.new`, site.data);
        }
      }
      await sureFolder(temporaryTables(site.data));
      await writeFile(initFile(site), accounts(site), { mode: 0o600 });
    },

    command: (site) => ({
      file: server,
      args: [
        '--no-defaults',
        `--datadir=${site.data}`,
        `--tmpdir=${temporaryTables(site.data)}`,
        `--port=${site.port}`,
        '--bind-address=127.0.0.1',
        // Relative to the data folder: an absolute path could exceed the 107 bytes of a socket's address.
        '--socket=mysql.sock',
        '--pid-file=mysql.pid',
        `--init-file=${initFile(site)}`,
        '--skip-log-bin',
        '--skip-name-resolve',
        '--character-set-server=utf8mb4',
        '--collation-server=utf8mb4_unicode_ci',
        '--default-time-zone=+00:00',
        '--max-connections=400',
        // MySQL's second protocol would take a second port; its folder for exports is one we may not enter.
        ...(isMariaDb ? [] : ['--mysqlx=OFF', '--secure-file-priv=NULL']),
        // 2 writes at commit but leaves the sync to the system once a second.
        `--innodb-flush-log-at-trx-commit=${site.durable ? 1 : 2}`,
        ...asRoot(),
      ],
    }),

    // The first packet of the protocol: three bytes of length, a sequence number, then protocol version 10.
    isReady: (site) => answers(site.port, '', (data) => data[4] === 10),
    url: (site) => `mysql://sparkroom:${site.password}@127.0.0.1:${site.port}/sparkroom`,
  };

  /** Makes a data folder under a temporary name, so that a start cut short cannot leave half a database. */
  async function initialise(folder: string): Promise<void> {
    const temporary = `${folder}.${process.pid}.new`;
    await rm(temporary, { recursive: true, force: true });
    try {
      await fill(temporary);
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      const said = `${stdout}${stderr}`.trim();
      if (saysDiskFull(said)) throw diskFull(folder, 'the empty database could not be written');
      throw new LauncherError(
        'store-failed',
        `An empty database folder could not be made. The server said:\n${said}`,
      );
    }
    try {
      await rename(temporary, folder);
    } catch (error) {
      // Another launcher may have made the same template in the meantime; its copy is as good.
      await rm(temporary, { recursive: true, force: true });
      if (!(await hasFolder(folder))) throw error;
    }
  }

  async function fill(temporary: string): Promise<void> {
    const tmpdir = temporaryTables(temporary);
    await sureFolder(tmpdir);
    const env = { ...process.env, TMPDIR: tmpdir };
    try {
      if (isMariaDb) {
        await run(
          installer ?? '',
          [
            '--no-defaults',
            `--datadir=${temporary}`,
            '--auth-root-authentication-method=socket',
            `--auth-root-socket-user=${userInfo().username}`,
            '--skip-test-db',
            '--skip-name-resolve',
            ...asRoot(),
          ],
          { env },
        );
      } else {
        await run(
          server ?? '',
          ['--no-defaults', '--initialize-insecure', `--datadir=${temporary}`, ...asRoot()],
          { env },
        );
      }
    } finally {
      await rm(tmpdir, { recursive: true, force: true });
    }
  }
}

/**
 * Where a server with this data folder keeps its temporary tables: beside it, for inside it would count as a database.
 * Never the system's folder: MariaDB deletes `#sql*` there when it starts, those of running servers too.
 */
function temporaryTables(data: string): string {
  return `${data}-tmp`;
}

function asRoot(): string[] {
  return userInfo().uid === 0 ? ['--user=root'] : [];
}

function initFile(site: StoreSite): string {
  return `${site.data}-accounts.sql`;
}

/** Statements the server runs at every start, before it accepts connections; one a line (an init file's rule). */
function accounts({ password }: StoreSite): string {
  const user = "'sparkroom'@'127.0.0.1'";
  return [
    `CREATE USER IF NOT EXISTS ${user} IDENTIFIED BY '${password}';`,
    `ALTER USER ${user} IDENTIFIED BY '${password}';`,
    `GRANT ALL PRIVILEGES ON \`sparkroom%\`.* TO ${user};`,
    'CREATE DATABASE IF NOT EXISTS sparkroom;',
    '',
  ].join('\n');
}
