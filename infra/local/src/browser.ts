import { globSync } from 'node:fs';
import { missingPrograms } from './missing-programs.ts';
import { findProgram } from './programs.ts';

/**
 * Finds Chromium, or has it installed together with a font that has Chinese.
 *
 * @throws LauncherError `missing-program` where it may not be installed.
 */
export async function browserEnv(log: (line: string) => void = console.log): Promise<Record<string, string>> {
  const find = (): string | undefined =>
    process.env.SPARKROOM_CHROMIUM || findProgram('chromium') || findProgram('google-chrome');
  const hasChinese = process.platform !== 'linux' || globSync('/usr/share/fonts/**/NotoSansCJK*').length > 0;
  const canInstall = process.getuid?.() === 0 && findProgram('apt-get') !== undefined;
  const missing = [
    ...(find() === undefined ? (['chromium'] as const) : []),
    // Without it the tests still pass, only the pictures are poor: not worth a failure.
    ...(hasChinese || !canInstall ? [] : (['cjk-fonts'] as const)),
  ];
  if (missing.length > 0) await missingPrograms(missing, { install: true, log });
  return { SPARKROOM_CHROMIUM: find() ?? '' };
}
