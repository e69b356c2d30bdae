import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export const repository = join(import.meta.dirname, '../..');

export interface Program {
  readonly pid: number;
  /** SIGTERM, and SIGKILL when that did not end it within 20 s. */
  stop(): Promise<void>;
}

/** Runs a program of this repository to its end, its output shown. @throws Error when it fails */
export async function runToEnd(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, [join(repository, file), ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env,
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${file} ended with code ${code}; what it said is above.`);
}

/**
 * Starts a program of this repository and waits until its address answers 200.
 * @param logFile where its output goes
 * @throws Error with the end of its log when it dies or is not ready within a minute
 */
export async function startProgram(
  file: string,
  env: NodeJS.ProcessEnv,
  readyUrl: string,
  logFile: string,
): Promise<Program> {
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, [join(repository, file)], { stdio: ['ignore', log, log], env });
  closeSync(log);
  const program = { pid: child.pid as number, stop: () => stopChild(child) };
  const deadline = performance.now() + 60_000;
  while (child.exitCode === null && performance.now() < deadline) {
    const answer = await fetch(readyUrl, { signal: AbortSignal.timeout(5000) }).catch(() => null);
    await answer?.text();
    if (answer?.ok) return program;
    await pause(100);
  }
  await program.stop();
  const tail = readFileSync(logFile, 'utf8').trim().split('\n').slice(-10).join('\n');
  throw new Error(`${file} did not get ready. The end of its log:\n${tail}`);
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await ended;
  clearTimeout(timer);
}

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port is free.');
  return address.port;
}
