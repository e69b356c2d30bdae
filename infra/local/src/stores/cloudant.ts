import { readFileSync, realpathSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sureFolder } from '../folders.ts';
import { findPrograms } from '../programs.ts';
import { LauncherError } from '../trouble.ts';
import { answersHttp, type Store } from './store.ts';

/** Our settings for CouchDB; in a data folder they also tell whose data these are. */
const settingsName = 'sparkroom.ini';

/**
 * A real CouchDB when one is installed, else the embedded server that comes with the packages. Neither can read
 * the other's data, so that a data folder stays with the server that made it.
 *
 * @param data the store's data folder, which need not be there yet.
 * @throws LauncherError `missing-program` when the data are CouchDB's and it is not installed any more.
 */
export async function cloudantStore(
  env: NodeJS.ProcessEnv,
  data: string,
  log: (line: string) => void,
): Promise<Store> {
  const files: string[] = await readdir(data).catch(() => []);
  const isCouchdbs = files.includes(settingsName);
  const couchdb = findCouchdb(env, log);
  if (couchdb === undefined) {
    if (!isCouchdbs) return embeddedStore;
    throw new LauncherError(
      'missing-program',
      `${data} was made by CouchDB, which cannot be found any more.\n` +
        'Install it again, or start over with the embedded server: npm start -- --reset',
    );
  }
  if (isCouchdbs || files.length === 0) return couchdbStore(couchdb);
  log(
    `cloudant: ${couchdb.program} is there, but the data are the embedded server's, which goes on; ` +
      '--reset starts over with CouchDB',
  );
  return embeddedStore;
}

const embeddedStore: Store = {
  name: 'cloudant',
  label: 'embedded CouchDB-compatible server',
  stopMs: 10_000,
  prepare: (site) => sureFolder(site.data),
  command: (site) => ({
    file: process.execPath,
    args: [
      fileURLToPath(new URL('../embedded-cloudant.ts', import.meta.url)),
      `--port=${site.port}`,
      `--data=${site.data}`,
    ],
    // Not on the command line, which everybody on the machine can read.
    env: { SPARKROOM_EMBEDDED_PASSWORD: site.password },
  }),
  isReady: (site) => answersHttp(`http://127.0.0.1:${site.port}/_up`),
  url: (site) => `http://sparkroom:${site.password}@127.0.0.1:${site.port}`,
};

/** An installed CouchDB that can be started with settings of our own. */
interface Couchdb {
  /** Its start script. Links are followed: the script finds everything else from its own place. */
  program: string;
  version: string;
  defaults: string;
}

/**
 * Looks for a CouchDB 3 release: `bin/couchdb`, `releases/start_erl.data` ("<erts> <CouchDB>") and `etc/default.ini`
 * under one folder, as in the project's own packages (/opt/couchdb); some distributions keep the last in /etc/couchdb.
 */
function findCouchdb(env: NodeJS.ProcessEnv, log: (line: string) => void): Couchdb | undefined {
  for (const found of findPrograms('couchdb', env)) {
    const program = realpathSync(found);
    const root = dirname(dirname(program));
    const version = read(join(root, 'releases/start_erl.data'))?.trim().split(' ')[1] ?? '';
    const defaults = [join(root, 'etc/default.ini'), '/etc/couchdb/default.ini'].find(
      (file) => read(file) !== undefined,
    );
    if (Number.parseInt(version, 10) >= 3 && defaults !== undefined) return { program, version, defaults };
    log(
      `cloudant: ${found} is not used: ${
        version === '' || defaults === undefined
          ? `no releases/start_erl.data and etc/default.ini that can be read in ${root}`
          : `CouchDB ${version} is older than 3`
      }`,
    );
  }
  return undefined;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * CouchDB with its own settings on top of the installed `default.ini` and nothing else of what is installed
 * (docs.couchdb.org: config/intro, `-couch_ini` and `COUCHDB_ARGS_FILE`).
 */
function couchdbStore({ program, version, defaults }: Couchdb): Store {
  return {
    ...embeddedStore,
    label: `CouchDB ${version}`,
    stopMs: 15_000,
    prepare: async (site) => {
      await sureFolder(site.data);
      await writeFile(
        join(site.data, settingsName),
        [
          '[couchdb]',
          `database_dir = ${site.data}`,
          `view_index_dir = ${site.data}`,
          'single_node = true',
          '[chttpd]',
          'bind_address = 127.0.0.1',
          `port = ${site.port}`,
          'require_valid_user_except_for_up = true',
          '[admins]',
          `sparkroom = ${site.password}`,
          '',
        ].join('\n'),
        { mode: 0o600 },
      );
      await writeFile(
        join(site.data, 'vm.args'),
        [
          // Written into the databases: under another name it would not find them again.
          '-name sparkroom@127.0.0.1',
          // The prefix because what begins with a dash is an option.
          `-setcookie sparkroom-${site.password}`,
          // Without Erlang's register of nodes, which would go on running after us and allows a name only once
          // a machine (erlang.org: erl, "-erl_epmd_port").
          '-start_epmd false',
          '-erl_epmd_port 0',
          '-kernel inet_dist_use_interface {127,0,0,1}',
          '-noinput',
          '+Bd',
          '',
        ].join('\n'),
        { mode: 0o600 },
      );
    },
    command: (site) => ({
      file: program,
      // As arguments, because a folder may have spaces in its name.
      args: ['-couch_ini', defaults, join(site.data, settingsName)],
      env: {
        COUCHDB_ARGS_FILE: join(site.data, 'vm.args'),
        // Settings for another CouchDB; with `-couch_ini` given twice none starts.
        COUCHDB_INI_FILES: undefined,
        ERL_FLAGS: undefined,
        ERL_AFLAGS: undefined,
        ERL_ZFLAGS: undefined,
      },
    }),
  };
}
