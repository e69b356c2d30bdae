import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { repository } from './repository.ts';

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** Hears what the program prints. Default: it prints to our own output. */
  hear?: (text: string) => void;
}

export interface Outcome {
  /** 0 when all went well; 128 plus the signal's number when it was killed. */
  code: number;
}

const running = new Set<{ kill(signal: NodeJS.Signals): void }>();

/** Passes a signal on to every program that `runProgram` has running. */
export function signalPrograms(signal: NodeJS.Signals): void {
  for (const program of running) program.kill(signal);
}

/**
 * Runs a program to its end, with the repository's own tools first on PATH. It gets its own process group, so
 * that signals reach it once, through `signalPrograms`.
 */
export function runProgram(
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  const path = [join(repository, 'node_modules/.bin'), process.env.PATH ?? ''].join(delimiter);
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: options.cwd ?? repository,
      env: { ...process.env, PATH: path, ...options.env },
      stdio: options.hear ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
      detached: true,
    });
    const program = {
      kill(signal: NodeJS.Signals): void {
        try {
          if (child.pid !== undefined) process.kill(-child.pid, signal);
        } catch {
          // Gone already.
        }
      },
    };
    running.add(program);
    const { hear } = options;
    if (hear) {
      child.stdout?.setEncoding('utf8').on('data', hear);
      child.stderr?.setEncoding('utf8').on('data', hear);
    }
    child.once('error', (error) => {
      running.delete(program);
      reject(error);
    });
    child.once('close', (code, signal) => {
      running.delete(program);
      const numbers: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };
      resolve({ code: code ?? 128 + (signal === null ? 1 : (numbers[signal] ?? 1)) });
    });
  });
}

/** Runs a TypeScript file of the repository. */
export function runScript(
  file: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<Outcome> {
  return runProgram(process.execPath, [join(repository, file), ...args], options);
}
