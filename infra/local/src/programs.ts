import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** Where servers lie although an ordinary user's PATH does not name it, and where Homebrew puts them. */
const alsoHere = [
  '/usr/sbin',
  '/usr/local/sbin',
  '/sbin',
  '/opt/couchdb/bin',
  '/opt/homebrew/bin',
  '/usr/local/bin',
];

/** @returns the full path of a program on PATH or in the usual server folders. */
export function findProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  return findPrograms(name, env)[0];
}

/** @returns every program of this name, the first to be preferred. */
export function findPrograms(name: string, env: NodeJS.ProcessEnv): string[] {
  const folders = [...(env.PATH ?? '').split(delimiter), ...(env.SPARKROOM_PATH_ONLY ? [] : alsoHere)];
  const paths = folders.filter((folder) => folder !== '').map((folder) => join(folder, name));
  return [...new Set(paths)].filter((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** @returns what `<program> --version` prints. */
export async function programVersion(program: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(program, ['--version'], { timeout: 10_000 });
  return `${stdout}${stderr}`.trim();
}
