/** What `npm start`, `npm test` and the other scripts run, by way of bootstrap.mjs. */
import { parseArgs } from 'node:util';
import { browserEnv } from './browser.ts';
import { stack } from './commands/stack.ts';
import { start } from './commands/start.ts';
import { check, test } from './commands/test.ts';
import { alone, withSite, withStores } from './commands/with-site.ts';
import { privateFolder } from './repository.ts';
import { programs } from './site.ts';
import { diskFull, LauncherError, saysDiskFull } from './trouble.ts';

const usage = `Usage: npm start [-- --reset]         everything, until Ctrl-C
       npm run stack [-- --reset]     only the stores; prints their addresses
       npm test [-- <vitest filters>] everything that must hold
       npm run check                  types, lint and import directions
       npm run seed -- [options]      demo data into the running site
       npm run screenshots            pictures of every page
       npm run perf:<name>            measurements
       npm run docs:events            writes docs/events.md`;

const [command = 'help', ...rest] = process.argv.slice(2);

const commands: Readonly<Record<string, (args: string[]) => Promise<number>>> = {
  start: (args) => start(resetOf(args)),
  stack: (args) => stack(resetOf(args)),
  test,
  check,
  seed: (args) => withStores(programs.seed, args),
  async screenshots(args) {
    return withSite(programs.screenshots, args, await browserEnv());
  },
  async perf([name = '', ...args]) {
    if (!/^[a-z0-9-]+$/.test(name))
      throw new LauncherError('bad-setting', 'Which measurement? For example: npm run perf:api');
    return alone(`perf/${name}.ts`, args);
  },
  async run([file = '', ...args]) {
    return alone(file, args);
  },
  async help() {
    console.log(usage);
    return 0;
  },
};

function resetOf(args: string[]): { reset: boolean } {
  try {
    const { values } = parseArgs({ args, options: { reset: { type: 'boolean', default: false } } });
    return values;
  } catch (error) {
    throw new LauncherError('bad-setting', `${error instanceof Error ? error.message : error}\n${usage}`);
  }
}

try {
  const run = commands[command];
  if (run === undefined)
    throw new LauncherError('bad-setting', `There is no command "${command}".\n${usage}`);
  process.exitCode = await run(rest);
} catch (error) {
  const shown =
    !(error instanceof LauncherError) && saysDiskFull(error)
      ? diskFull(privateFolder, 'a write failed')
      : error;
  console.error(shown instanceof LauncherError ? `\n${shown.message}` : shown);
  process.exitCode = 1;
}
