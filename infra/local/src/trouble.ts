/** What can go wrong in the launcher in a way the person at the terminal can do something about. */
export type TroubleCode =
  | 'already-running'
  | 'bad-setting'
  | 'disk-full'
  | 'missing-program'
  | 'port-in-use'
  | 'program-failed'
  | 'store-failed';

/**
 * An error whose message is meant for the person at the terminal: what is wrong and what to do about it.
 * Everything else that is thrown is a bug of the launcher and is shown as one.
 */
export class LauncherError extends Error {
  readonly code: TroubleCode;
  /** Only for `already-running`: what the running launcher says about itself. */
  readonly running: RunningLauncher | undefined;

  constructor(code: TroubleCode, message: string, running?: RunningLauncher) {
    super(message);
    this.name = 'LauncherError';
    this.code = code;
    this.running = running;
  }
}

/** What a running launcher leaves in `run/launcher.json` for the next one to read. */
export interface RunningLauncher {
  pid: number;
  /** Start time of that process, see process-identity.ts. */
  start: string;
  /** Address of the web app, once it is being served. */
  url?: string;
  /** Connection settings of the stack, once it is up. */
  env?: Record<string, string>;
}

/** True when an error (or what a program wrote before it died) says that a disk is full. */
export function saysDiskFull(error: unknown): boolean {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))
    return true;
  const text = error instanceof Error ? error.message : String(error);
  return /ENOSPC|EDQUOT|No space left on device|Disk quota exceeded|Errcode: 28|errno: 28|error:? (number )?28\b|disk (is )?full/i.test(
    text,
  );
}

/** The message for a full disk. */
export function diskFull(folder: string, detail: string): LauncherError {
  return new LauncherError(
    'disk-full',
    `The disk that holds ${folder} is full (${detail}).\n` +
      `Free some space (\`df -h ${folder}\` shows how much there is) and start again; nothing has been lost.`,
  );
}
