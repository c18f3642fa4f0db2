import { existsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

/** Judges nobody here wrote are installed by themselves: test/contract/judges/README.md. */
const JUDGES = existsSync('test/contract/judges/node_modules/ajv') ? ['test/contract/judges/**/*.judge.ts'] : [];

/** Everything that takes minutes, and the tests of `npm test` with all of their cases. */
export default defineConfig({
  define: { CARDWRIGHT_VERSION: JSON.stringify('0.0.0-test') },
  test: {
    globalSetup: [
      'scripts/browser-tests.mjs',
      'scripts/test-postgres.mjs',
      'scripts/test-package.mjs',
      'scripts/leaves-nothing.mjs',
    ],
    env: { CARDWRIGHT_TEST_WHOLE: '1' },
    include: ['test/**/*.full.ts', 'test/**/*.test.ts', ...JUDGES],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    // One after the other: some of them start a whole suite of their own, with its own processes.
    fileParallelism: false,
    pool: 'forks',
  },
});
