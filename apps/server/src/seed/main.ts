/** Puts made-up data into the stores: `main.ts [--scale demo|article] [--seed N] [--add]`. See README.md. */
import { parseArgs } from 'node:util';
import { CloudantError, openCloudant, readCloudantSettings } from '@sparkroom/cloudant';
import { isMigrated, openMysql, readMysqlSettings } from '@sparkroom/mysql';
import { StoreUnavailableError } from '@sparkroom/pools';
import { SeedRefusedError, seedArticle, seedDemo } from './seed.ts';

const usage = `Usage: npm run seed -- [--scale demo|article] [--seed N] [--add]

  --scale demo      6 clients, 12 workspaces, 20 people, 200 ideas (the default)
  --scale article   7,000 clients, 3,000 workspaces, 2,000 people, 60,000 ideas, 600,000 ratings
  --seed N          the same number gives the same data (default 1)
  --add             also into a database that has people of its own`;

/** A wish that cannot be understood; the message says what can. */
class UsageError extends Error {}

function readArguments(): { scale: 'demo' | 'article'; seed: number; add: boolean; help: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        scale: { type: 'string', default: 'demo' },
        seed: { type: 'string', default: '1' },
        add: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const { scale, add, help } = values;
    if (scale !== 'demo' && scale !== 'article')
      throw new UsageError(`There is no scale "${scale}"; take demo or article.`);
    const seed = Number(values.seed);
    if (!Number.isSafeInteger(seed) || seed < 0)
      throw new UsageError(`--seed takes a whole number from 0 on, not "${values.seed}".`);
    return { scale, seed, add, help };
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
}

function readSettings() {
  try {
    return {
      mysql: { ...readMysqlSettings(process.env), connections: 4, statementMs: 120_000 },
      // A slow document store takes its time over hundreds of documents; that is no reason to give up.
      cloudant: { ...readCloudantSettings(process.env), deadlineMs: 120_000 },
    };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function main(): Promise<number> {
  const { scale, seed, add, help } = readArguments();
  if (help) {
    console.log(usage);
    return 0;
  }
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      console.log('\nfinishing the batches under way; once more ends at once');
      stop.abort();
    });
  }
  const settings = readSettings();
  const mysql = await openMysql(settings.mysql);
  const cloudant = openCloudant(settings.cloudant);
  try {
    if (!(await isMigrated(mysql.db)))
      throw new SeedRefusedError('The database has no tables yet, or older ones. Run npm start first.');
    await cloudant.ensureDatabases();
    const options = { seed, add, signal: stop.signal, say: (line: string) => console.log(line) };
    if (scale === 'demo') await seedDemo(mysql, cloudant, options);
    else if (!(await seedArticle(mysql, cloudant, options))) {
      console.log('Stopped before the end. The same command goes on from here.');
      return 130;
    }
    return 0;
  } finally {
    await Promise.allSettled([mysql.close(), cloudant.close()]);
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof UsageError) {
    console.error(error.message);
    process.exitCode = 2;
  } else if (error instanceof SeedRefusedError || error instanceof CloudantError) {
    console.error(error.message);
    process.exitCode = 1;
  } else if (error instanceof StoreUnavailableError) {
    console.error(`The store ${error.store} does not answer. Nothing half-done was left; try again.`);
    process.exitCode = 1;
  } else {
    console.error(error instanceof Error ? (error.stack ?? error.message) : error);
    process.exitCode = 1;
  }
}
