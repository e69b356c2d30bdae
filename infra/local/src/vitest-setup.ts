/** Vitest's global set-up: one stack for the whole run, its addresses in the environment of every test. */
import { privateFolder } from './repository.ts';
import { startTestStack } from './test-stack.ts';

export async function setup(): Promise<() => Promise<void>> {
  const stack = await startTestStack(privateFolder, { log: (line) => console.log(`  ${line}`) });
  Object.assign(process.env, stack.env);
  return () => stack.stop();
}
