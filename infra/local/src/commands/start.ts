import { join } from 'node:path';
import { styleText } from 'node:util';
import { portFrom } from '../ports.ts';
import { privateFolder } from '../repository.ts';
import { startSite } from '../site.ts';
import { startStack } from '../stack.ts';
import { startSteps } from '../steps.ts';
import { LauncherError } from '../trouble.ts';
import { inSession } from './session.ts';

export const defaultPort = 3000;

/** `npm start`: everything, until Ctrl-C. */
export async function start({ reset }: { reset: boolean }): Promise<number> {
  const steps = startSteps();
  const port = portFrom(process.env, 'SPARKROOM_PORT', defaultPort);
  const isWorkerPortAsked = !['', '0', undefined].includes(process.env.SPARKROOM_WORKER_PORT);
  const workerPort = isWorkerPortAsked ? portFrom(process.env, 'SPARKROOM_WORKER_PORT', 0) : undefined;
  try {
    return await inSession(steps, async ({ signal, untilInterrupted, atEnd }) => {
      steps.log('starting the stores');
      const stack = await startStack({ dir: privateFolder, log: steps.log, reset, signal });
      atEnd(stack.stop);
      const host = process.env.SPARKROOM_HOST || '127.0.0.1';
      const publicUrl = process.env.SPARKROOM_URL;
      const site = await startSite(stack, { port, host, steps, workerPort, publicUrl });
      atEnd(site.stop);
      if (!signal.aborted) console.log(ready(site.url));
      await untilInterrupted;
      return 0;
    });
  } catch (error) {
    if (!(error instanceof LauncherError && error.code === 'already-running' && error.running)) throw error;
    const { pid, url } = error.running;
    console.log(
      `Sparkroom is already running from this folder (pid ${pid})${url ? `: ${url}` : ', and still starting, or only its stores.'}`,
    );
    if (!reset) return 0;
    console.log('To start over, stop it first (Ctrl-C where it runs), then run npm start -- --reset again.');
    return 1;
  }
}

function ready(url: string): string {
  return `
  ${styleText('bold', styleText('green', 'Sparkroom is ready:'))} ${styleText('bold', url)}

  sign in   admin@sparkroom.example, or user0@sparkroom.example ... user9@sparkroom.example
            password sparkroom-demo
  data      ${join(privateFolder, 'data')}
  logs      ${join(privateFolder, 'logs')}
  stop      Ctrl-C
  reset     npm start -- --reset   (deletes the data, seeds the demo anew)
`;
}
