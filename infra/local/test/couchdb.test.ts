import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { bareEnv, isAlive, stackForTest, temporaryFolder } from './helpers.ts';

/** What the stand-in for CouchDB has been given, as it tells at /_given. */
interface Given {
  args: string[];
  env: Record<string, string | undefined>;
  root: string;
  settings: Record<string, Record<string, string>>;
  vmArgs: string[];
}

/**
 * The start script of CouchDB 3 (rel/overlay/bin/couchdb) in its essentials: where it is gives where all else is, links
 * are not followed, options are passed on, and `COUCHDB_ARGS_FILE` replaces etc/vm.args.
 */
const startScript = `#!/bin/sh
BIN=$(cd "\${0%/*}" && pwd)
cd "$BIN/../" && export ROOTDIR=$PWD
read -r ERTS_VSN APP_VSN < "$ROOTDIR/releases/start_erl.data" || exit 4
exec ${process.execPath} "$ROOTDIR/stand-in.mjs" -args_file "\${COUCHDB_ARGS_FILE:-$ROOTDIR/etc/vm.args}" "$@"
`;

/** Reads its settings as CouchDB does (config_app.erl: one `-couch_ini` or none) and answers behind their password. */
const standIn = `import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
const flags = (process.env.ERL_FLAGS ?? '').split(' ').filter(Boolean);
const args = [...process.argv.slice(2), ...flags];
const values = (name) => args.flatMap((arg, i) => {
  if (arg !== name) return [];
  const rest = args.slice(i + 1);
  const end = rest.findIndex((value) => value.startsWith('-'));
  return [rest.slice(0, end < 0 ? undefined : end)];
});
const [files, twice] = values('-couch_ini');
if (files === undefined || twice !== undefined) throw new Error('case_clause: -couch_ini not exactly once');
const settings = {};
for (const file of files) {
  let section;
  for (const line of readFileSync(file, 'utf8').split('\\n')) {
    const [, name] = /^\\[(.+)\\]$/.exec(line) ?? [];
    const [, key, value] = /^([^;=]+?)\\s*=\\s*(.*)$/.exec(line) ?? [];
    if (name) section = settings[name] ??= {};
    else if (key) section[key] = value;
  }
}
const vmArgs = readFileSync(values('-args_file')[0][0], 'utf8').split('\\n').filter(Boolean);
const users = Object.entries(settings.admins).map((pair) => 'Basic ' + Buffer.from(pair.join(':')).toString('base64'));
createServer((request, response) => {
  const isOpen = request.url === '/_up' && settings.chttpd.require_valid_user_except_for_up === 'true';
  const known = isOpen || users.includes(request.headers.authorization);
  response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
  response.end(known ? JSON.stringify({ args, env: process.env, root: process.env.ROOTDIR, settings, vmArgs }) : '{}');
}).listen(Number(settings.chttpd.port), settings.chttpd.bind_address);
`;

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Installs the stand-in under `<folder>/<name>` as CouchDB's packages do under /opt/couchdb. */
function install(folder: string, name = 'opt/couch db', version = '3.5.1'): string {
  const root = join(folder, name);
  for (const sub of ['bin', 'etc', 'releases']) mkdirSync(join(root, sub), { recursive: true });
  writeFileSync(join(root, 'bin/couchdb'), startScript);
  chmodSync(join(root, 'bin/couchdb'), 0o755);
  writeFileSync(join(root, 'stand-in.mjs'), standIn);
  writeFileSync(join(root, 'releases/start_erl.data'), `13.2.2.9 ${version}\n`);
  writeFileSync(join(root, 'etc/vm.args'), '-name couchdb@127.0.0.1\n');
  writeFileSync(
    join(root, 'etc/default.ini'),
    '[couchdb]\nmax_document_size = 8000000\ndatabase_dir = ./data\n[chttpd]\nport = 5984\nbind_address = 127.0.0.1\n',
  );
  return root;
}

/** A folder for PATH with a link to the start script, as `ln -s /opt/couchdb/bin/couchdb /usr/local/bin` makes. */
function linkTo(root: string, folder: string): string {
  const bin = join(folder, 'linked');
  mkdirSync(bin);
  symlinkSync(join(root, 'bin/couchdb'), join(bin, 'couchdb'));
  return bin;
}

const envWith = (path: string): Record<string, string> => bareEnv({ PATH: path, SPARKROOM_PATH_ONLY: '1' });

async function given(url: string): Promise<Given> {
  const { username, password, origin } = new URL(url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const response = await fetch(`${origin}/_given`, { headers: { authorization } });
  expect(response.status).toBe(200);
  return (await response.json()) as Given;
}

test('a CouchDB on PATH, by a link, is started with our settings on top of its own defaults and nothing else', async () => {
  const folder = temporaryFolder();
  const root = install(folder);
  vi.stubEnv('ERL_FLAGS', '-couch_ini /somebody/elses.ini');
  vi.stubEnv('COUCHDB_INI_FILES', '/somebody/elses.ini');
  const { stack, said } = await stackForTest({
    only: ['cloudant'],
    ports: { cloudant: 24_540 },
    env: envWith(`${linkTo(root, folder)}:/usr/bin:/bin`),
  });
  expect(said.join('\n')).toMatch(/CouchDB 3\.5\.1 ready on port/);
  const data = join(stack.dir, 'data/cloudant');
  const { port, password } = new URL(stack.cloudantUrl);

  const got = await given(stack.cloudantUrl);
  expect(got.root).toBe(root);
  expect(got.args).toEqual([
    '-args_file',
    join(data, 'vm.args'),
    '-couch_ini',
    join(root, 'etc/default.ini'),
    join(data, 'sparkroom.ini'),
  ]);
  expect(got.env).not.toHaveProperty('ERL_FLAGS');
  expect(got.env).not.toHaveProperty('COUCHDB_INI_FILES');
  expect(got.settings).toEqual({
    couchdb: {
      max_document_size: '8000000',
      database_dir: data,
      view_index_dir: data,
      single_node: 'true',
    },
    chttpd: { port, bind_address: '127.0.0.1', require_valid_user_except_for_up: 'true' },
    admins: { sparkroom: password },
  });
  expect(got.vmArgs).toEqual([
    '-name sparkroom@127.0.0.1',
    `-setcookie sparkroom-${password}`,
    '-start_epmd false',
    '-erl_epmd_port 0',
    '-kernel inet_dist_use_interface {127,0,0,1}',
    '-noinput',
    '+Bd',
  ]);
  for (const file of ['sparkroom.ini', 'vm.args'])
    expect(statSync(join(data, file)).mode & 0o777).toBe(0o600);
  // Everybody on the machine can read a command line.
  const pid = stack.pid('cloudant') ?? 0;
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(password);

  await stack.kill('cloudant');
  await stack.restart('cloudant');
  expect((await given(stack.cloudantUrl)).settings.admins).toEqual({ sparkroom: password });
  const again = stack.pid('cloudant') ?? 0;
  await stack.stop();
  expect(isAlive(again)).toBe(false);
});

test('what is called couchdb but cannot be started with our settings is passed over, and it is said why', async () => {
  const folder = temporaryFolder();
  const wrapper = join(folder, 'wrapper');
  mkdirSync(join(wrapper, 'bin'), { recursive: true });
  writeFileSync(join(wrapper, 'bin/couchdb'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const old = install(folder, 'old', '2.3.1');
  const path = [wrapper, old].map((root) => join(root, 'bin')).join(':');

  const { said } = await stackForTest({
    only: ['cloudant'],
    ports: { cloudant: 24_545 },
    env: envWith(path),
  });
  expect(said).toContain(
    `cloudant: ${wrapper}/bin/couchdb is not used: no releases/start_erl.data and etc/default.ini that can be read in ${wrapper}`,
  );
  expect(said).toContain(`cloudant: ${old}/bin/couchdb is not used: CouchDB 2.3.1 is older than 3`);
  expect(said.join('\n')).toMatch(/embedded CouchDB-compatible server ready/);
});

test('data stay with the server that made them, until a reset', async () => {
  const folder = temporaryFolder();
  const root = install(folder);
  const dir = temporaryFolder();
  const start = (path: string, reset = false) =>
    stackForTest({ dir, reset, only: ['cloudant'], ports: { cloudant: 24_550 }, env: envWith(path) });

  const embedded = await start('/nowhere');
  const url = new URL(embedded.stack.cloudantUrl);
  const authorization = `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`;
  const put = (path: string, body?: string): Promise<Response> =>
    fetch(url.origin + path, {
      method: 'PUT',
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
    });
  await put('/kept');
  expect((await put('/kept/x', '{"n":1}')).status).toBe(201);
  await embedded.stack.stop();

  const installed = await start(`${join(root, 'bin')}:/usr/bin:/bin`);
  expect(installed.said.join('\n')).toContain("the data are the embedded server's, which goes on");
  const kept = await fetch(`${new URL(installed.stack.cloudantUrl).origin}/kept/x`, {
    headers: { authorization },
  });
  expect(kept.status).toBe(200);
  await installed.stack.stop();

  const reset = await start(`${join(root, 'bin')}:/usr/bin:/bin`, true);
  expect(reset.said.join('\n')).toContain('CouchDB 3.5.1 ready');
  await reset.stack.stop();
  expect(readdirSync(join(dir, 'data/cloudant'))).toContain('sparkroom.ini');

  rmSync(join(root, 'bin/couchdb'));
  await expect(start('/nowhere')).rejects.toThrow(
    /was made by CouchDB, which cannot be found any more.*--reset/s,
  );
});
