import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  define: { CARDWRIGHT_VERSION: JSON.stringify('0.0.0-test') },
  test: {
    globalSetup: ['scripts/test-surroundings.mjs', 'scripts/leaves-nothing.mjs'],
    include: ['test/**/*.test.ts'],
    // For what hangs, and not for what is slow: on a busy machine work takes ten times as long.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // Forks: the store's native module and process signals do not mix with worker threads.
    pool: 'forks',
    // One more than Vitest takes of two cores: much of a story is waiting for a program it has started.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // One process serves many files: nothing is mocked and nothing is kept between them, and loading the code anew for
    // each of them took half of the time.
    isolate: false,
    restoreMocks: true,
  },
});
