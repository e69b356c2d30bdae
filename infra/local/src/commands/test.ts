import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { browserEnv } from '../browser.ts';
import { privateFolder } from '../repository.ts';
import { runProgram } from '../run-program.ts';
import { seconds, startSteps } from '../steps.ts';
import { removeDeadRuns } from '../test-stack.ts';
import { inSession } from './session.ts';

/** How many checks of a step held and how many did not. */
interface Count {
  passed: number;
  failed: number;
}

interface Step {
  name: string;
  run(): Promise<Count>;
}

const types: Step = { name: 'types, servers (tsc)', run: () => tool('tsc', ['-p', 'tsconfig.json']) };
const webTypes: Step = { name: 'types, web (tsc)', run: () => tool('tsc', ['-p', 'tsconfig.web.json']) };
const lint: Step = {
  name: 'format and lint (biome)',
  run: () => tool('biome', ['ci', '--reporter=summary', '.']),
};
const imports: Step = {
  name: 'import directions',
  run: () => vitest('imports', ['--project', 'unit', 'test/']),
};
const unit: Step = { name: 'unit tests', run: () => vitest('unit', ['--project', 'unit']) };
const integration: Step = {
  name: 'integration tests on private stores',
  run: () => vitest('integration', ['--project', 'integration']),
};
const browser: Step = {
  name: 'browser tests in Chromium',
  run: async () => vitest('e2e', ['--project', 'e2e'], await browserEnv()),
};

/**
 * `npm test`: types, lint, unit, integration and browser tests. With arguments only vitest, to which they go.
 * Its last line is `N passed, N failed`: tests, plus one for each tool that is not a test runner.
 *
 * @returns 0 when nothing failed, 1 when something did, 130 when it was interrupted.
 */
export async function test(args: string[]): Promise<number> {
  if (args.length === 0) return runSteps([types, webTypes, lint, unit, integration, browser]);
  const filtered = async (): Promise<Count> => vitest('filtered', args, await browserEnv().catch(() => ({})));
  return runSteps([{ name: `vitest ${args.join(' ')}`, run: filtered }]);
}

/** `npm run check`: what needs no servers and only seconds. */
export function check(): Promise<number> {
  return runSteps([types, webTypes, lint, imports]);
}

async function runSteps(all: readonly Step[]): Promise<number> {
  const steps = startSteps();
  steps.log(`plan: ${all.map((step) => step.name).join('; ')}`);
  const total: Count = { passed: 0, failed: 0 };
  let isComplete = false;
  await inSession(steps, async ({ signal }) => {
    for (const step of all) {
      signal.throwIfAborted();
      const began = performance.now();
      steps.log(styleText('bold', step.name));
      let count: Count;
      try {
        count = await step.run();
      } catch (error) {
        console.error(error instanceof Error ? error.message : error);
        count = { passed: 0, failed: 1 };
      }
      total.passed += count.passed;
      total.failed += count.failed;
      const verdict = `${count.passed} passed, ${count.failed} failed`;
      steps.log(
        `${step.name}: ${count.failed > 0 ? styleText('red', verdict) : verdict} in ${seconds(began)}`,
      );
    }
    signal.throwIfAborted();
    isComplete = true;
    return 0;
  });
  // Plain, whatever the terminal: this line is read by programs.
  console.log(`${total.passed} passed, ${total.failed} failed`);
  if (!isComplete) return 130;
  return total.failed === 0 ? 0 : 1;
}

async function tool(file: string, args: readonly string[]): Promise<Count> {
  const { code } = await runProgram(file, args);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

async function vitest(
  name: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Count> {
  const folder = join(privateFolder, 'test');
  await mkdir(folder, { recursive: true });
  const report = join(folder, `report-${process.pid}-${name}.json`);
  const { code } = await runProgram(
    'vitest',
    ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args],
    { env },
  );
  try {
    return countOf(JSON.parse(await readFile(report, 'utf8')), code);
  } catch {
    return { passed: 0, failed: 1 };
  } finally {
    await rm(report, { force: true });
    // After an interrupt test files have had no time to stop what they started.
    await removeDeadRuns(privateFolder);
  }
}

/** What of vitest's JSON report (Jest's format) is read here. */
export interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: unknown[] }[];
}

/**
 * Counts a report: failed tests, files that failed before they had any test, and one for a run that failed
 * outside of every test (an unhandled error, a set-up that threw).
 */
export function countOf(report: Report, exitCode: number): Count {
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  );
  const failed = report.numFailedTests + brokenFiles.length;
  return { passed: report.numPassedTests, failed: exitCode !== 0 && failed === 0 ? 1 : failed };
}
