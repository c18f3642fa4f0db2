import { defineConfig } from 'vitest/config';

/** Everything that takes minutes, beside what `npm test` runs. */
export default defineConfig({
  define: { CARDWRIGHT_VERSION: JSON.stringify('0.0.0-test') },
  test: {
    include: ['test/**/*.full.ts'],
    testTimeout: 600_000,
    pool: 'forks',
    restoreMocks: true,
  },
});
