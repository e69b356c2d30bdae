import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this checkout, without a slash at its end. */
export const repository = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[/\\]$/, '');

/** Where everything private to this checkout lives. `SPARKROOM_DIR` names another folder. */
export const privateFolder = process.env.SPARKROOM_DIR || join(repository, '.sparkroom');

/** @returns whether a file of the repository exists; path relative to its root. */
export function isInRepository(file: string): boolean {
  return existsSync(join(repository, file));
}
