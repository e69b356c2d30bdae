/** `node src/main.ts [--roles relay,projector,cache]`: a worker process. Settings come from the environment. */
import { pino } from 'pino';
import { readWorkerSettings, type WorkerSettings } from './settings.ts';
import { startWorker } from './worker.ts';

/** Milliseconds a stop may take; after that the process ends anyway, which loses nothing but the courtesy. */
const stopMs = 10_000;

function settingsOrExit(): WorkerSettings {
  try {
    return readWorkerSettings(process.argv.slice(2), process.env);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(2);
  }
}

const settings = settingsOrExit();
const log = pino({ name: 'worker', level: settings.logLevel });
let ending: Promise<void> | undefined;

function fail(error: unknown): void {
  log.fatal({ err: error }, 'worker ends');
  process.exitCode = 1;
  // Whatever was in hand is delivered again.
  setTimeout(() => process.exit(1), 100);
}
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const worker = await startWorker(settings, log).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    // Twice means now.
    if (ending) process.exit(1);
    log.info({ signal }, 'worker stops');
    setTimeout(() => {
      log.warn({ stopMs }, 'not drained in time');
      process.exit(1);
    }, stopMs).unref();
    ending = worker.stop().then(() => {
      log.info({}, 'worker stopped');
      process.exit(0);
    }, fail);
  });
worker.working.catch(fail);
