import { defineConfig } from 'vitest/config';

/** Everything that takes minutes, beside what `npm test` runs. */
export default defineConfig({
  define: { CARDWRIGHT_VERSION: JSON.stringify('0.0.0-test') },
  test: {
    globalSetup: [
      'scripts/browser-tests.mjs',
      'scripts/test-postgres.mjs',
      'scripts/test-package.mjs',
      'scripts/leaves-nothing.mjs',
    ],
    include: ['test/**/*.full.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    // One after the other: some of them start a whole suite of their own, with its own processes.
    fileParallelism: false,
    pool: 'forks',
    restoreMocks: true,
  },
});
