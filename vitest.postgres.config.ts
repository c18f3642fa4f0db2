import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Suites of these folders that are about SQLite, or open an engine themselves: they say nothing about PostgreSQL. */
const NOT_HERE = {
  'test/sandbox/bind.test.ts': 'what the engines of SQLite take as a value',
  'test/sandbox/crowd.test.ts': 'processes that make one file',
  'test/sandbox/kill.test.ts': 'a file after kill -9; of servers on PostgreSQL it is test/crash/account-servers',
  'test/sandbox/left-behind.test.ts': 'temporary files of a killed process',
  'test/sandbox/lists/stores.test.ts': 'opens both engines itself',
  'test/sandbox/lost-commit.test.ts': 'opens PostgreSQL itself',
  'test/sandbox/mutants.test.ts': 'mistakes in the rules, planted in a sandbox in memory',
  'test/sandbox/older-stores.test.ts': 'files of older versions',
  'test/sandbox/postgres-store.test.ts': 'opens PostgreSQL itself',
  'test/sandbox/processes.test.ts': 'processes on one file',
  'test/sandbox/queue.test.ts': 'the queue of SQLite',
  'test/sandbox/store-files.test.ts': 'files',
  'test/sandbox/sweep.test.ts': 'system calls on a file',
  'test/sandbox/two-engines.test.ts': 'opens both engines itself',
  'test/sandbox/two-servers.test.ts': 'two servers of one file',
};

/** The suites of the sandbox, of scenarios, of dialects and of stories, unchanged, with their stores on PostgreSQL. */
export default defineConfig({
  define: { CARDWRIGHT_VERSION: JSON.stringify('0.0.0-test') },
  test: {
    globalSetup: ['scripts/test-surroundings.mjs', 'scripts/test-postgres.mjs', 'scripts/leaves-nothing.mjs'],
    env: { CARDWRIGHT_TEST_STORE: 'postgres' },
    include: ['sandbox', 'scenario', 'dialects', 'transcripts'].map(folder => `test/${folder}/**/*.test.ts`),
    exclude: Object.keys(NOT_HERE),
    // For what hangs, and not for what is slow: random histories took five minutes beside much other work.
    testTimeout: 900_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    maxWorkers: availableParallelism() + 1,
    isolate: false,
    restoreMocks: true,
    // What a command says of its progress depends on how long an answer takes.
    retry: 1,
  },
});
