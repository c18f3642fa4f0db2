import { defineConfig } from 'vitest/config';

/** Judges nobody here wrote; see test/contract/judges/README.md. */
export default defineConfig({
  define: { CARDWRIGHT_VERSION: JSON.stringify('0.0.0-test') },
  test: {
    globalSetup: 'scripts/leaves-nothing.mjs',
    include: ['test/contract/judges/**/*.judge.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: 'forks',
  },
});
