/** Vitest's global set-up for browser tests: a private stack with the demo, and the site on it (`SPARKROOM_URL`). */
import { nextFreePort } from './ports.ts';
import { privateFolder } from './repository.ts';
import { startSite } from './site.ts';
import { startSteps } from './steps.ts';
import { startTestStack } from './test-stack.ts';

export async function setup(): Promise<() => Promise<void>> {
  const steps = startSteps((line) => console.log(`  ${line}`));
  const stack = await startTestStack(privateFolder, { log: steps.log });
  try {
    const site = await startSite(stack, { port: await nextFreePort(23000), host: '127.0.0.1', steps });
    Object.assign(process.env, site.env);
    return async () => {
      await site.stop();
      await stack.stop();
    };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}
