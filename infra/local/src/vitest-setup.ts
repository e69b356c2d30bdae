/** Vitest's global set-up: one stack for the whole run, its addresses in the environment of every test. */
import { fileURLToPath } from 'node:url';
import { startTestStack } from './test-stack.ts';

export async function setup(): Promise<() => Promise<void>> {
  const root = fileURLToPath(new URL('../../../.sparkroom', import.meta.url));
  const stack = await startTestStack(root, { log: (line) => console.log(`  ${line}`) });
  Object.assign(process.env, stack.env);
  return () => stack.stop();
}
