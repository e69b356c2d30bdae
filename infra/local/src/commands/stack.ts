import { privateFolder } from '../repository.ts';
import { startStack } from '../stack.ts';
import { startSteps } from '../steps.ts';
import { LauncherError } from '../trouble.ts';
import { inSession } from './session.ts';

/** `npm run stack`: only the stores. Addresses on standard output as `NAME=value`, all else on standard error. */
export async function stack({ reset }: { reset: boolean }): Promise<number> {
  const steps = startSteps(console.error);
  const print = (env: Readonly<Record<string, string>>): void => {
    // Addresses only: what is printed ends up in terminals and logs, and no store needs the session secret.
    for (const [name, value] of Object.entries(env)) {
      if (name !== 'SPARKROOM_AUTH_SECRET') console.log(`${name}=${value}`);
    }
  };
  try {
    return await inSession(steps, async ({ signal, untilInterrupted, atEnd }) => {
      const stack = await startStack({ dir: privateFolder, log: steps.log, reset, signal });
      atEnd(stack.stop);
      print(stack.env);
      steps.log('the stores are ready; Ctrl-C stops them');
      await untilInterrupted;
      return 0;
    });
  } catch (error) {
    if (!(error instanceof LauncherError && error.code === 'already-running' && error.running)) throw error;
    console.error(`The stores are already running (pid ${error.running.pid}).`);
    print(error.running.env ?? {});
    return reset ? 1 : 0;
  }
}
