import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { identifyProcess, isSameProcess } from './process-identity.ts';
import { LauncherError, type RunningLauncher } from './trouble.ts';

/** The claim of one launcher on one folder, and what it tells others about itself. */
export interface LauncherLock {
  /** Adds to what others read: the URL, the connection settings. */
  tell(news: Pick<RunningLauncher, 'url' | 'env'>): void;
  release(): void;
}

/**
 * Claims a folder for this process. The claim of a launcher that is no longer alive does not count.
 *
 * @throws LauncherError `already-running` with what the other launcher says about itself.
 */
export function claim(file: string): LauncherLock {
  const own = identifyProcess(process.pid);
  let told: RunningLauncher = { pid: process.pid, start: own?.start ?? '' };
  const draft = `${file}.${process.pid}`;
  const write = (): void => writeFileSync(draft, JSON.stringify(told), { mode: 0o600 });
  write();
  for (let attempt = 0; ; attempt++) {
    try {
      // A link fails when the name is taken: exactly one of two launchers gets it.
      linkSync(draft, file);
      break;
    } catch (error) {
      const other = readRunning(file);
      if (other !== undefined || attempt > 20) {
        rmSync(draft, { force: true });
        if (other === undefined) throw error;
        throw new LauncherError('already-running', 'Sparkroom is already running from this folder.', other);
      }
      rmSync(file, { force: true });
    }
  }
  rmSync(draft, { force: true });
  return {
    tell(news) {
      told = { ...told, ...news };
      write();
      renameSync(draft, file);
    },
    release() {
      if (readRunning(file)?.pid === process.pid) rmSync(file, { force: true });
    },
  };
}

/** @returns what the launcher that holds the claim says, or `undefined` when there is none alive. */
export function readRunning(file: string): RunningLauncher | undefined {
  try {
    const running: RunningLauncher = JSON.parse(readFileSync(file, 'utf8'));
    return isSameProcess(running) ? running : undefined;
  } catch {
    return undefined;
  }
}
