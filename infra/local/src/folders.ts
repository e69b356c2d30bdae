import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Tells whether a folder is there, and makes the folder above it when it is not, so that the caller can
 * make it under another name and rename it into place.
 */
export async function hasFolder(folder: string): Promise<boolean> {
  try {
    await stat(folder);
    return true;
  } catch {
    await sureFolder(dirname(folder));
    return false;
  }
}

/** Makes a folder that only its owner may enter, with all above it. */
export async function sureFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}
