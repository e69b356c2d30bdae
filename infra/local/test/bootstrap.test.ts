import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../src/repository.ts';
import { bareEnv, fakeProgram, temporaryFolder } from './helpers.ts';

/** A repository with one dependency, a launcher that shows its arguments, and an npm that only claims to install. */
function smallRepository(npm: string): {
  dir: string;
  run(...args: string[]): { code: number | null; output: string };
} {
  const dir = temporaryFolder();
  mkdirSync(join(dir, 'infra/local/src'), { recursive: true });
  copyFileSync(join(repository, 'infra/local/bootstrap.mjs'), join(dir, 'infra/local/bootstrap.mjs'));
  writeFileSync(
    join(dir, 'infra/local/src/cli.ts'),
    `const args: string[] = process.argv.slice(2);
     console.log('cli', args.join('|'), process.env.PATH?.split(':')[0]);
     process.exitCode = args[0] === 'fail' ? 7 : 0;`,
  );
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  lock(dir, '1.0.0');
  const bin = fakeProgram(dir, 'npm', npm);
  const env = bareEnv({ PATH: `${bin}:${process.env.PATH}` });
  return {
    dir,
    run(...args) {
      const done = spawnSync(process.execPath, [join(dir, 'infra/local/bootstrap.mjs'), ...args], {
        env,
        encoding: 'utf8',
      });
      return { code: done.status, output: done.stdout + done.stderr };
    },
  };
}

function lock(dir: string, version: string): void {
  const packages = {
    '': {},
    'node_modules/a': { version },
    'node_modules/only-elsewhere': { version, optional: true },
  };
  writeFileSync(join(dir, 'package-lock.json'), JSON.stringify({ packages }));
}

const goodNpm = `test "$1" = ci || exit 9
mkdir -p node_modules && echo run >> npm-runs
sed 's/,"node_modules.only-elsewhere.*/}}/' package-lock.json > node_modules/.package-lock.json`;

test('installs when there is nothing, when the lock file changes, and not otherwise; passes arguments and exit code', () => {
  const { dir, run } = smallRepository(goodNpm);
  const runs = (): number => readFileSync(join(dir, 'npm-runs'), 'utf8').trim().split('\n').length;

  const first = run('start', '--reset');
  expect(first.output).toContain('Installing the packages');
  expect(first.output).toContain(`cli start|--reset ${join(dir, 'node_modules/.bin')}`);
  expect(first.code).toBe(0);
  expect(run('fail')).toMatchObject({ code: 7, output: expect.not.stringContaining('Installing') });
  expect(runs()).toBe(1);

  lock(dir, '1.0.1');
  expect(run('start').output).toContain('Installing');
  expect(runs()).toBe(2);
});

test('an install that was cut short is done again', () => {
  const { dir, run } = smallRepository(goodNpm);
  mkdirSync(join(dir, 'node_modules/a'), { recursive: true });
  expect(run('start').output).toContain('Installing');
});

test('an install that fails shows what npm said and starts nothing', () => {
  const { run } = smallRepository('echo "npm error network is down" >&2; exit 1');
  const { code, output } = run('start');
  expect(code).toBe(1);
  expect(output).toContain('npm error network is down');
  expect(output).toContain('Installing the packages failed');
  expect(output).not.toContain('cli start');
});

test('an install that fails of a full disk says so', () => {
  const { run } = smallRepository('echo "npm error code ENOSPC" >&2; exit 1');
  expect(run('start').output).toContain('is full. Free some space');
});

test('a Node that is too old is told so before anything is touched', () => {
  const { dir } = smallRepository(goodNpm);
  const pretend = `Object.defineProperty(process, 'versions', { value: { node: '18.19.0' } }); import(${JSON.stringify(
    join(dir, 'infra/local/bootstrap.mjs'),
  )});`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', pretend], {
    encoding: 'utf8',
    env: bareEnv(),
  });
  expect(status).toBe(1);
  expect(stderr).toContain('needs Node 20 or newer');
  expect(existsSync(join(dir, 'node_modules'))).toBe(false);
});

test('without a Node 24 of its own it asks for one', () => {
  const { dir, run } = smallRepository(goodNpm);
  run('start');
  const pretend = `Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } }); import(${JSON.stringify(
    join(dir, 'infra/local/bootstrap.mjs'),
  )});`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', pretend], {
    encoding: 'utf8',
    env: bareEnv(),
  });
  expect(status).toBe(1);
  expect(stderr).toContain('Install Node 24 from https://nodejs.org');
});
