import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { LauncherError } from './trouble.ts';

/** Secrets of one checkout, made at its first start and kept in a file that only its owner may read. */
export interface Secrets {
  authSecret: string;
  mysqlPassword: string;
  cloudantPassword: string;
  natsPassword: string;
}

const names = ['authSecret', 'mysqlPassword', 'cloudantPassword', 'natsPassword'] as const;

/**
 * Reads the secrets; makes those that are missing (32 random bytes each, URL-safe).
 *
 * @throws LauncherError `bad-setting` when the file is there but cannot be understood.
 */
export async function readSecrets(file: string): Promise<Secrets> {
  let known: Partial<Secrets> = {};
  try {
    known = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) {
      throw new LauncherError(
        'bad-setting',
        `${file} cannot be read as JSON. Delete it (new secrets are made; everybody is signed out) and start again.`,
      );
    }
  }
  const made = Object.fromEntries(
    names.map((name) => [name, known[name] || randomBytes(32).toString('base64url')]),
  ) as unknown as Secrets;
  if (names.some((name) => made[name] !== known[name])) {
    await writeFile(`${file}.new`, `${JSON.stringify({ ...known, ...made }, null, 2)}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }
  return made;
}
