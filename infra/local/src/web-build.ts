import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './repository.ts';
import { runProgram } from './run-program.ts';
import type { Steps } from './steps.ts';
import { LauncherError } from './trouble.ts';

/** What the web app is built from; packages it takes only types of do not count. */
const sources = ['apps/web', 'packages/ui', 'packages/contract', 'packages/client', 'package-lock.json'];
const notSources = new Set(['node_modules', 'dist', 'e2e', 'test']);

/**
 * Builds the web app into apps/web/dist when a source is newer than the last build.
 *
 * @throws LauncherError `program-failed` with what vite said.
 */
export async function buildWeb(steps: Steps): Promise<void> {
  const web = join(repository, 'apps/web');
  const built = join(web, 'dist/index.html');
  const newest = Math.max(...sources.map((source) => newestChange(join(repository, source))));
  if (existsSync(built) && statSync(built).mtimeMs >= newest) {
    steps.log('web app: already built');
    return;
  }
  await steps.run('building the web app', async () => {
    let said = '';
    // Built aside and put in place in one go: a site that is running, or a build cut short, never has half of it.
    const aside = join(web, 'node_modules', `.dist-${process.pid}`);
    const { code } = await runProgram(
      'vite',
      ['build', '--logLevel', 'warn', '--emptyOutDir', '--outDir', aside],
      {
        cwd: web,
        env: { NO_COLOR: '1', FORCE_COLOR: '0' },
        hear: (text) => {
          said = (said + text).slice(0, 4_000);
        },
      },
    );
    if (code !== 0) {
      rmSync(aside, { recursive: true, force: true });
      throw new LauncherError('program-failed', `The web app could not be built. vite said:\n${said.trim()}`);
    }
    rmSync(join(web, 'dist'), { recursive: true, force: true });
    renameSync(aside, join(web, 'dist'));
  });
}

/** Time (ms since 1970) of the latest change to a file or to anything in a folder. */
function newestChange(path: string): number {
  let stat: ReturnType<typeof statSync>;
  try {
    stat = statSync(path);
  } catch {
    return 0;
  }
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(path)
    .filter((name) => !notSources.has(name))
    .reduce((newest, name) => Math.max(newest, newestChange(join(path, name))), 0);
}
