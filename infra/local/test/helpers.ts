import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { nextFreePort } from '../src/ports.ts';
import { identifyProcess } from '../src/process-identity.ts';
import { privateFolder, repository } from '../src/repository.ts';
import { type Stack, type StackOptions, startStack } from '../src/stack.ts';

/** A folder that is gone after the test; after a test that was killed, the next run stops what runs in it. */
export function temporaryFolder(): string {
  mkdirSync(join(privateFolder, 'test'), { recursive: true });
  const folder = mkdtempSync(join(privateFolder, 'test', `run-${process.pid}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Ports of this file, away from those of the run's own stack. `npm test` runs two files at a time. */
export async function ports(base: number): Promise<Record<'mysql' | 'cloudant' | 'redis' | 'nats', number>> {
  const mysql = await nextFreePort(base);
  const cloudant = await nextFreePort(mysql + 1);
  const redis = await nextFreePort(cloudant + 1);
  return { mysql, cloudant, redis, nats: await nextFreePort(redis + 1) };
}

/** The environment without the stack that vitest's set-up started, so that tests start their own. */
export function bareEnv(more: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => (!name.startsWith('SPARKROOM_') || name === 'SPARKROOM_MYSQLD') && !/^npm_/i.test(name),
  );
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...more };
}

/** A stack that is stopped after the test, and what it said. */
export async function stackForTest(
  options: Partial<StackOptions> = {},
): Promise<{ stack: Stack; said: string[] }> {
  const said: string[] = [];
  const stack = await startStack({
    dir: options.dir ?? temporaryFolder(),
    nextFreePort: true,
    env: bareEnv(),
    durable: false,
    template: join(privateFolder, 'test', 'template'),
    log: (line) => said.push(line),
    ...options,
  });
  onTestFinished(() => stack.stop());
  return { stack, said };
}

/** Waits until something is true; asks every 20 ms. */
export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  withinMs = 15_000,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs / 1000} s: ${what}`);
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

/** True while a process runs; one that has ended but has not been waited for does not. */
export function isAlive(pid: number): boolean {
  return identifyProcess(pid) !== undefined;
}

/** An executable shell script; returns the folder to put on PATH. */
export function fakeProgram(folder: string, name: string, script: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
  return bin;
}

/** A launcher process and what it has printed so far. */
export interface Launcher {
  child: ChildProcess;
  output(): string;
  exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Runs `bootstrap.mjs <args>`; it is killed after the test if it still runs. */
export function launch(args: string[], env: Record<string, string>): Launcher {
  let output = '';
  const child = spawn(process.execPath, [join(repository, 'infra/local/bootstrap.mjs'), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const exit: Launcher['exit'] = new Promise((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await exit;
  });
  return { child, output: () => output, exit };
}
