import { defineConfig } from 'vitest/config';

// Three projects: `unit` needs no servers, `integration` gets a private stack (infra/local), `e2e` gets the
// stack and a browser. `vitest --project unit` runs one of them.
export default defineConfig({
  test: {
    // More would only fight over the stores and, in CI, over two cores.
    maxWorkers: 2,
    pool: 'forks',
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'packages/*/src/**/*.test.{ts,tsx}',
            'apps/*/src/**/*.test.{ts,tsx}',
            'infra/*/src/**/*.test.ts',
            'perf/**/*.test.ts',
            'test/**/*.test.ts',
          ],
        },
      },
      {
        test: {
          name: 'integration',
          include: ['packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts', 'infra/*/test/**/*.test.ts'],
          globalSetup: ['infra/local/src/vitest-setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['apps/web/e2e/**/*.test.ts'],
          globalSetup: ['infra/local/src/e2e-setup.ts'],
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
