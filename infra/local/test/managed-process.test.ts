import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManagedProcess } from '../src/managed-process.ts';
import { temporaryFolder, until } from './helpers.ts';

/** A managed shell script, and what it is said about it. */
function manage(script: string, readyMs = 5_000): { managed: ManagedProcess; dir: string; said: string[] } {
  const dir = temporaryFolder();
  const said: string[] = [];
  const managed = new ManagedProcess({
    name: 'program',
    label: 'The program',
    runFolder: dir,
    logFolder: dir,
    cwd: dir,
    command: () => ({ file: '/bin/sh', args: ['-c', script] }),
    isReady: async () => existsSync(join(dir, 'ready')),
    readyMs,
    stopMs: 300,
    log: (line) => said.push(line),
  });
  onTestFinished(() => managed.stop());
  return { managed, dir, said };
}

test('a program that dies again and again: growing pauses, and after three times its last lines', async () => {
  const { managed, dir, said } = manage('touch ready; sleep 0.1; echo "cannot go on" $((1 + 1)); exit 4');
  await managed.start();
  await until('it is said that it keeps dying', () => said.some((line) => line.includes('keeps dying')));
  const text = said.join('\n');
  expect(text).toContain('The program ended by itself (exit code 4); starting it again\n');
  expect(text).toContain('starting it again in 1 s');
  expect(text).toMatch(/keeps dying. Its last lines, from .*program\.log:\n {4}cannot go on 2/);
  await managed.stop();
  const before = said.length;
  const runs = readFileSync(join(dir, 'program.log'), 'utf8').length;
  await new Promise((wake) => setTimeout(wake, 300));
  expect(said).toHaveLength(before);
  expect(readFileSync(join(dir, 'program.log'), 'utf8')).toHaveLength(runs);
});

test('a program that never becomes ready is stopped, with its last lines in the error', async () => {
  const { managed } = manage('echo waiting for a sign; exec sleep 600', 300);
  await expect(managed.start()).rejects.toThrow(/was not ready after 0.3 s.*waiting for a sign/s);
  expect(managed.pid).toBeUndefined();
});

test('a program that does not exist is named', async () => {
  const dir = temporaryFolder();
  const managed = new ManagedProcess({
    name: 'none',
    label: 'The program',
    runFolder: dir,
    logFolder: dir,
    cwd: dir,
    command: () => ({ file: join(dir, 'no-such'), args: [] }),
    isReady: async () => true,
    readyMs: 1_000,
    stopMs: 300,
    log: () => {},
  });
  await expect(managed.start()).rejects.toThrow(/The program cannot be run: .*ENOENT/);
});

test('a program that ignores SIGTERM is killed when its time is over', async () => {
  const { managed, dir, said } = manage('trap "" TERM; touch ready; while :; do sleep 0.05; done');
  await managed.start();
  const pid = managed.pid ?? 0;
  expect(JSON.parse(readFileSync(join(dir, 'program.pid'), 'utf8')).pid).toBe(pid);
  await managed.stop();
  expect(managed.pid).toBeUndefined();
  expect(said).toEqual(['The program did not end within 0.3 s of being asked to; killed it']);
  expect(existsSync(join(dir, 'program.pid'))).toBe(false);
});

test('a log that has grown large is put aside at the next start', async () => {
  const { managed, dir } = manage('touch ready; exec sleep 600');
  writeFileSync(join(dir, 'program.log'), Buffer.alloc(11_000_000, 'x'));
  await managed.start();
  expect(existsSync(join(dir, 'program.log.1'))).toBe(true);
  expect(managed.lastLines()).toBe('');
});
