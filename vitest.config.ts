import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** What is told of a run: which programs are missing, one PostgreSQL for all, one tarball for all, what was left behind. */
const SETUP = [
  'scripts/browser-tests.mjs',
  'scripts/test-surroundings.mjs',
  'scripts/test-postgres.mjs',
  'scripts/test-package.mjs',
  'scripts/leaves-nothing.mjs',
];

export default defineConfig({
  define: { CARDWRIGHT_VERSION: JSON.stringify('0.0.0-test') },
  test: {
    globalSetup: SETUP,
    include: ['test/**/*.test.ts'],
    // For what hangs, and not for what is slow: on a busy machine work takes ten times as long.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 60_000 } },
    // Forks: the store's native module and process signals do not mix with worker threads.
    pool: 'forks',
    // One waits for a program it has started or for a moment while the others work; each more would load all the code again.
    maxWorkers: availableParallelism() + 1,
    // One process serves many files: nothing is mocked and nothing is kept between them, and loading the code anew for
    // each of them took half of the time (of small tests alone 7 %: 41 in place of 38 s of the processor).
    isolate: false,
    // What is made of each source file is kept in node_modules, by its text.
    experimental: { fsModuleCache: true },
  },
});
