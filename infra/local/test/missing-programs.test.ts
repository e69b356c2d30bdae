import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { missingPrograms } from '../src/missing-programs.ts';
import { findProgram } from '../src/programs.ts';
import { startStack } from '../src/stack.ts';
import { bareEnv, fakeProgram, temporaryFolder } from './helpers.ts';

/** An apt-get that writes down how it was called and whether services were forbidden to start at that time. */
function fakeApt(
  dir: string,
  script = '',
): { env: Record<string, string>; calls(): string[]; policyFile: string } {
  const policyFile = join(dir, 'policy-rc.d');
  const bin = fakeProgram(
    dir,
    'apt-get',
    `echo "$* policy=$(${policyFile} x start 2>/dev/null; echo $?)" >> ${dir}/calls; echo "Setting up something (1.0) ..."; ${script}`,
  );
  return {
    env: { PATH: `${bin}:/bin:/usr/bin`, SPARKROOM_PATH_ONLY: '1' },
    policyFile,
    calls: () => readFileSync(join(dir, 'calls'), 'utf8').trim().split('\n'),
  };
}

test('without root: the one command to run, and nothing is run', async () => {
  const dir = temporaryFolder();
  const { env } = fakeApt(dir);
  const asked = missingPrograms(['mysql', 'nats'], { install: true, isRoot: false, env, log: () => {} });
  await expect(asked).rejects.toMatchObject({ code: 'missing-program' });
  await expect(asked).rejects.toThrow(
    'Not installed on this machine: mysql, nats. Run this, then start again:\n' +
      '    sudo apt-get install -y --no-install-recommends mariadb-server-core mariadb-client-core nats-server',
  );
  expect(existsSync(join(dir, 'calls'))).toBe(false);
});

test('without apt: containers are named', async () => {
  const env = { PATH: temporaryFolder(), SPARKROOM_PATH_ONLY: '1' };
  const asked = missingPrograms(['redis'], { install: true, isRoot: true, env, log: () => {} });
  await expect(asked).rejects.toThrow(
    process.platform === 'darwin' ? 'brew install redis' : 'docker compose -f infra/compose.yml',
  );
});

test('as root: says what it installs, waits for the lock, lets no service start, and tidies up', async () => {
  const dir = temporaryFolder();
  const { env, calls, policyFile } = fakeApt(dir);
  const said: string[] = [];
  await missingPrograms(['redis'], {
    install: true,
    isRoot: true,
    env,
    policyFile,
    log: (line) => said.push(line),
  });
  expect(said[0]).toBe('not installed yet: redis. Installing by apt: redis-server');
  expect(said).toContain('apt: Setting up something (1.0) ...');
  expect(calls().at(-1)).toBe(
    '-q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends redis-server policy=101',
  );
  expect(existsSync(policyFile)).toBe(false);
});

test("somebody else's policy-rc.d stays as it is", async () => {
  const dir = temporaryFolder();
  const { env, policyFile } = fakeApt(dir);
  writeFileSync(policyFile, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  await missingPrograms(['redis'], { install: true, isRoot: true, env, policyFile, log: () => {} });
  expect(readFileSync(policyFile, 'utf8')).toBe('#!/bin/sh\nexit 0\n');
});

test('apt that fails once is tried again with fresh lists; one that keeps failing is quoted', async () => {
  const dir = temporaryFolder();
  const { env, calls, policyFile } = fakeApt(
    dir,
    'case "$*" in *install*) echo "E: Unable to locate package"; exit 100;; esac',
  );
  const asked = missingPrograms(['nats'], { install: true, isRoot: true, env, policyFile, log: () => {} });
  await expect(asked).rejects.toThrow(/failed \(exit code 100\).*E: Unable to locate package/s);
  const verbs = calls().map((call) => /update|install/.exec(call)?.[0]);
  expect(verbs.slice(-3)).toEqual(['install', 'update', 'install']);
  expect(existsSync(policyFile)).toBe(false);
});

test('a start without a server and without the right to install fails before anything runs', async () => {
  const env = bareEnv({ PATH: temporaryFolder(), SPARKROOM_PATH_ONLY: '1' });
  const dir = temporaryFolder();
  await expect(startStack({ dir, only: ['nats', 'redis'], env, install: false })).rejects.toThrow(
    'Not installed on this machine: redis, nats.',
  );
});

test('servers are found where an ordinary PATH does not look', () => {
  expect(findProgram('nats-server', { PATH: '/nowhere' })).toMatch(/nats-server$/);
  expect(findProgram('no-such-program')).toBeUndefined();
});
