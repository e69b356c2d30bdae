import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endProcess, identifyProcess, isSameProcess, type ProcessIdentity } from './process-identity.ts';
import type { Command } from './stores/store.ts';
import { diskFull, LauncherError, saysDiskFull } from './trouble.ts';

/** What a managed process is and how it is watched. */
export interface ManagedOptions {
  /** File name part of its pid and log files. */
  name: string;
  /** As shown to people. */
  label: string;
  runFolder: string;
  logFolder: string;
  cwd: string;
  /** Asked anew at every start. */
  command(): Command;
  isReady(pid: number): Promise<boolean>;
  readyMs: number;
  /** Milliseconds between SIGTERM and SIGKILL when it is stopped. */
  stopMs: number;
  log(line: string): void;
}

/** A process that dies this many times within `restWithinMs` of its start is said to die at once. */
const restWithinMs = 10_000;
const longestPauseMs = 15_000;
const largestLog = 10_000_000;

const living = new Set<ManagedProcess>();

/** Kills every managed process this instant, without waiting for anything. */
export function killEverythingNow(): void {
  for (const managed of living) managed.killNow();
}

/**
 * A program that is kept running: started in its own process group (so that a Ctrl-C at the terminal goes to
 * the launcher alone, which stops everything in order), written down in a pid file, its output in a log
 * file, and started again with growing pauses when it dies by itself.
 */
export class ManagedProcess {
  readonly #options: ManagedOptions;
  #child: ChildProcess | undefined;
  #identity: ProcessIdentity | undefined;
  #wanted = false;
  #quickDeaths = 0;
  #logOffset = 0;
  #restartTimer: NodeJS.Timeout | undefined;

  constructor(options: ManagedOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  get label(): string {
    return this.#options.label;
  }

  /** The pid while it runs. */
  get pid(): number | undefined {
    return this.#child?.exitCode === null && this.#child.signalCode === null ? this.#child.pid : undefined;
  }

  get logFile(): string {
    return join(this.#options.logFolder, `${this.#options.name}.log`);
  }

  get #pidFile(): string {
    return join(this.#options.runFolder, `${this.#options.name}.pid`);
  }

  /**
   * Stops a process that an earlier launcher left behind. A pid that meanwhile belongs to another program
   * is left alone.
   */
  async stopLeftover(): Promise<void> {
    const known = readPidFile(this.#pidFile);
    if (known === undefined) return;
    const now = identifyProcess(known.pid);
    if (now !== undefined && now.start === known.start) {
      this.#options.log(
        `${this.#options.label} is left over from an earlier run (pid ${known.pid}); stopping it`,
      );
      await endProcess(known, this.#options.stopMs);
    } else if (now !== undefined) {
      this.#options.log(
        `pid ${known.pid} of an earlier ${this.#options.label} now belongs to another program; leaving that alone`,
      );
    }
    rmSync(this.#pidFile, { force: true });
  }

  /**
   * Starts the program and waits until it is ready.
   *
   * @throws LauncherError `disk-full` or `store-failed` with the last lines of its log.
   */
  async start(): Promise<void> {
    this.#wanted = true;
    living.add(this);
    clearTimeout(this.#restartTimer);
    try {
      await this.#spawn();
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#watch();
  }

  /** Stops the program for good: SIGTERM, and SIGKILL when it takes too long. */
  async stop(): Promise<void> {
    this.#wanted = false;
    clearTimeout(this.#restartTimer);
    const { label, log, stopMs } = this.#options;
    if (this.#identity !== undefined && (await endProcess(this.#identity, stopMs)))
      log(`${label} did not end within ${stopMs / 1000} s of being asked to; killed it`);
    // The system says that it is gone a moment before Node does.
    const child = this.#child;
    if (child !== undefined && this.pid !== undefined)
      await new Promise((resolve) => child.once('exit', resolve));
    rmSync(this.#pidFile, { force: true });
    living.delete(this);
  }

  /** Sends a signal and, when that ends the program, does not start it again until `start` is called. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.pid === undefined) return;
    if (signal === 'SIGSTOP' || signal === 'SIGCONT') {
      child.kill(signal);
      return;
    }
    this.#wanted = false;
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.kill(signal);
    });
  }

  /** Kills the program this instant, without waiting. For the second Ctrl-C. */
  killNow(): void {
    this.#wanted = false;
    clearTimeout(this.#restartTimer);
    if (this.pid !== undefined) this.#child?.kill('SIGKILL');
    rmSync(this.#pidFile, { force: true });
    living.delete(this);
  }

  /** The last lines the program wrote since it was last started. */
  lastLines(count = 12): string {
    try {
      const text = readFileSync(this.logFile).subarray(this.#logOffset).toString();
      return text.trimEnd().split('\n').slice(-count).join('\n');
    } catch {
      return '';
    }
  }

  async #spawn(): Promise<void> {
    const { label, logFolder } = this.#options;
    const command = this.#options.command();
    let spawnError: Error | undefined;
    const log = this.#openLog();
    try {
      this.#child = spawn(command.file, command.args, {
        cwd: this.#options.cwd,
        env: { ...process.env, ...command.env },
        stdio: ['ignore', log, log],
        detached: true,
      });
    } finally {
      closeSync(log);
    }
    const child = this.#child;
    child.once('error', (error) => {
      spawnError = error;
    });
    if (child.pid !== undefined) {
      this.#identity = identifyProcess(child.pid) ?? { pid: child.pid, start: 'gone', command: command.file };
      writeFileSync(this.#pidFile, JSON.stringify(this.#identity));
    }

    const deadline = Date.now() + this.#options.readyMs;
    for (;;) {
      if (spawnError !== undefined)
        throw new LauncherError('store-failed', `${label} cannot be run: ${spawnError.message}`);
      const { pid } = this;
      if (child.pid !== undefined && pid === undefined) {
        const lines = this.lastLines();
        if (saysDiskFull(lines)) throw diskFull(logFolder, `${label} could not write`);
        throw new LauncherError(
          'store-failed',
          `${label} ended at once (${howItEnded(child)}). Its last lines, from ${this.logFile}:\n${indent(lines)}`,
        );
      }
      if (pid !== undefined && (await this.#options.isReady(pid)) && this.pid === pid) return;
      if (Date.now() > deadline) {
        throw new LauncherError(
          'store-failed',
          `${label} was not ready after ${this.#options.readyMs / 1000} s. Its last lines, from ${this.logFile}:\n` +
            indent(this.lastLines()),
        );
      }
      await new Promise((wake) => setTimeout(wake, 30));
    }
  }

  /** Starts the program again when it ends although it is wanted. */
  #watch(): void {
    const child = this.#child;
    const started = Date.now();
    const onExit = (): void => {
      if (!this.#wanted || this.#child !== child || child === undefined) return;
      this.#quickDeaths = Date.now() - started < restWithinMs ? this.#quickDeaths + 1 : 1;
      this.#again(`${this.#options.label} ended by itself (${howItEnded(child)})`);
    };
    if (child === undefined || this.pid === undefined) onExit();
    else child.once('exit', onExit);
  }

  #again(what: string): void {
    const { label, log } = this.#options;
    const pauseMs = this.#quickDeaths <= 1 ? 0 : Math.min(250 * 2 ** this.#quickDeaths, longestPauseMs);
    log(`${what}; starting it again${pauseMs > 0 ? ` in ${pauseMs / 1000} s` : ''}`);
    if (this.#quickDeaths === 3) {
      log(`${label} keeps dying. Its last lines, from ${this.logFile}:\n${indent(this.lastLines())}`);
    }
    this.#restartTimer = setTimeout(async () => {
      const started = Date.now();
      try {
        await this.#spawn();
      } catch (error) {
        if (!this.#wanted) return;
        if (this.#identity !== undefined) await endProcess(this.#identity, this.#options.stopMs);
        if (!this.#wanted) return;
        this.#quickDeaths++;
        const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
        this.#again(reason.replace(/\. Its last lines.*$/, ''));
        return;
      }
      if (!this.#wanted) return;
      log(`${label} is running again (${((Date.now() - started) / 1000).toFixed(1)} s)`);
      this.#watch();
    }, pauseMs);
  }

  #openLog(): number {
    const file = this.logFile;
    try {
      if (statSync(file).size > largestLog) renameSync(file, `${file}.1`);
    } catch {
      // No log yet.
    }
    const descriptor = openSync(file, 'a', 0o600);
    this.#logOffset = statSync(file).size;
    return descriptor;
  }
}

function readPidFile(file: string): ProcessIdentity | undefined {
  try {
    const known: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof known !== 'object' || known === null || !('pid' in known) || !('start' in known))
      return undefined;
    if (typeof known.pid !== 'number' || typeof known.start !== 'string') return undefined;
    return { pid: known.pid, start: known.start, command: '' };
  } catch {
    return undefined;
  }
}

/** True when the process of a pid file is still alive. */
export function isPidFileAlive(file: string): boolean {
  const known = readPidFile(file);
  return known !== undefined && isSameProcess(known);
}

function howItEnded(child: ChildProcess): string {
  return child.signalCode === null ? `exit code ${child.exitCode}` : `by ${child.signalCode}`;
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}
