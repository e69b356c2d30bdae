import { realpathSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sureFolder } from '../folders.ts';
import { findProgram } from '../programs.ts';
import { answersHttp, type Store } from './store.ts';

/** A real CouchDB when one is installed, else the embedded server that comes with the packages. */
export async function cloudantStore(env: NodeJS.ProcessEnv): Promise<Store> {
  const couchdb = findProgram('couchdb', env);
  return couchdb === undefined ? embeddedStore : couchdbStore(couchdb);
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

/**
 * CouchDB 3 with its own settings on top of the installed `default.ini`, and its own node name, so that it
 * lives beside an installed one (docs.couchdb.org: config/intro, `ERL_FLAGS` and `COUCHDB_ARGS_FILE`).
 */
function couchdbStore(program: string): Store {
  const defaults = join(dirname(dirname(realpathSync(program))), 'etc', 'default.ini');
  return {
    ...embeddedStore,
    label: 'CouchDB',
    stopMs: 15_000,
    prepare: async (site) => {
      await sureFolder(site.data);
      await writeFile(
        join(site.data, 'sparkroom.ini'),
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
        [`-name sparkroom${site.port}@127.0.0.1`, `-setcookie ${site.password}`, '-noinput', '+Bd', ''].join(
          '\n',
        ),
        { mode: 0o600 },
      );
    },
    command: (site) => ({
      file: program,
      args: [],
      env: {
        ERL_FLAGS: `-couch_ini ${defaults} ${join(site.data, 'sparkroom.ini')}`,
        COUCHDB_ARGS_FILE: join(site.data, 'vm.args'),
      },
    }),
  };
}
