import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { defineConfig, type Plugin } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Those that wait for real time, and those that take longest: one of them begun last would run on alone. Without a run before
 * it the largest file comes first, and some of these are three lines that call a long proof.
 */
const LONGEST = [
  'transcripts/transcripts',
  'answers/examples',
  'hostile/table',
  'crash/kill',
  'sandbox/mutants',
  'secrets/canary',
  'hostile/forgotten-key',
  'crash/going-on',
  'team/move',
  'team/drills',
  'stories/sandbox-exec',
  'secrets/confirmations',
  'sandbox/faults/property',
  'bulk/dead-service',
  'crash/random-kills',
  'dialects/transcripts',
  'package/sandbox-start',
  'package/ci',
  'writes/roads',
  'package/sandbox-server',
  'package/library',
  'team/killed-again',
  'team/killed-commands',
  'team/killed-holder',
  'team/killed-programs',
  'team/shared-kills',
  'team/cut-off',
  'crash/account-servers',
  'crash/intents',
  'bulk/kill',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex(name => moduleId.endsWith(`/test/${name}.test.ts`));
      return at === -1 ? LONGEST.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

/**
 * A command loads its parts when it needs them. What runs modules here asks for each of them anew, at every command; Node
 * itself, which runs the program, has them at hand.
 */
const withPartsAtHand: Plugin = {
  name: 'with-parts-at-hand',
  // The types are gone by then, and with them what only looks like an import.
  enforce: 'post',
  transform(code, id) {
    if (!id.startsWith(join(import.meta.dirname, 'src/'))) return undefined;
    const text = code.replace(/\bimport\(("\.{1,2}\/[\w./-]+")\)/g, '(atHand[$1] ??= import($1))');
    return text === code ? undefined : { code: `const atHand = {}; ${text}`, map: null };
  },
};

/**
 * Tests run much code a few times each: on Node 20 optimizing it takes more of the processor than it brings, until it has
 * run 15 times as long as usual. Later releases of Node have other rules, and other options.
 */
const OPTIMIZED_LATER = process.versions.node.startsWith('20.') ? ['--interrupt-budget=2000000'] : [];

export default defineConfig({
  define: { CARDWRIGHT_VERSION: JSON.stringify('0.0.0-test') },
  plugins: [withPartsAtHand],
  test: {
    globalSetup: [
      'scripts/browser-tests.mjs',
      'scripts/test-surroundings.mjs',
      'scripts/test-postgres.mjs',
      'scripts/test-package.mjs',
      'scripts/leaves-nothing.mjs',
    ],
    setupFiles: ['test/support/between-questions.ts'],
    include: ['test/**/*.test.ts'],
    // For what hangs, and not for what is slow: on a busy machine work takes ten times as long.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // The second that Vitest gives by itself is soon over there.
    expect: { poll: { timeout: 60_000 } },
    // Forks: the store's native module and process signals do not mix with worker threads.
    pool: 'forks',
    // Many small worlds are made and thrown away: with room for them they are collected a third as often.
    execArgv: ['--max-semi-space-size=64', ...OPTIMIZED_LATER],
    // Three more than there are cores: much of a story is waiting, for a program it has started or for a moment.
    maxWorkers: availableParallelism() + 3,
    sequence: { sequencer: LongestFirst },
    // One process serves many files: nothing is mocked and nothing is kept between them, and loading the code anew for
    // each of them took half of the time.
    isolate: false,
    restoreMocks: true,
    // What is made of each source file is kept in node_modules, by its text: the one process that makes it is waited for.
    experimental: { fsModuleCache: true },
  },
});
