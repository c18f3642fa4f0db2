import { command } from '../../cli/parsing/command.ts';
import { local, OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { sandboxExec } from '../../cli/sandbox-exec.ts';
import { choice, flag, integer } from '../../contract/field.ts';
import { ADMIN_OPERATIONS, DATA_SETS } from '../../contract/sandbox/admin.ts';
import { DIALECT_NAMES } from '../../contract/sandbox/faults.ts';
import { readRules } from './faults.ts';
import { sizeFor, spokenDialect } from './server.ts';

const ours = (doc: string) => ({ doc, basis: OURS });

/** Runs one program with a sandbox of its own and checks the books when it is over. */
export const sandboxExecute = command({
  path: 'sandbox exec',
  summary: 'Run a program with its own sandbox and check the ledger at the end',
  answers: { none: 'What the program prints.' },
  about: [
    'The program gets CARDWRIGHT_BASE_URL and CARDWRIGHT_API_KEY, CARDWRIGHT_SANDBOX_URL and CARDWRIGHT_SANDBOX_TOKEN, CARDWRIGHT_WEBHOOK_SECRET (of subscriptions that name none), CARDWRIGHT_CONFIG_DIR (a fresh folder) and CARDWRIGHT_TEST_ONLY=1, and no other CARDWRIGHT_ variable. It runs without a shell, and its standard output is the only standard output.',
    'Ends with the exit code of the program, or 128 plus the number of the signal; with 12 if the sandbox did not start, and with 15 instead of 0 if the ledger does not balance at the end. Before that it sends webhooks that are due, for at most two seconds. If the program fails, the last 20 requests and the webhooks that did not arrive are shown.',
    'SIGTERM and SIGHUP are passed on to the program. A second Ctrl-C kills it.',
  ],
  reach: 'files',
  ends: {
    unreachable: 'The sandbox did not start.',
    check_failed: 'The program ended with 0, but the ledger does not balance.',
  },
  flags: {
    seed: option(integer({ ...ours('Seed of ids, card numbers and codes.'), min: 0 })),
    data: option(choice(DATA_SETS, { ...ours('Data set to begin with.'), defaults: 'demo' })),
    cards: option(ADMIN_OPERATIONS.reset.body.cards),
    transactions: option(ADMIN_OPERATIONS.reset.body.transactions),
    dialect: option(choice(DIALECT_NAMES, ours('Speak like another service, to test against its answers.'))),
    noRateLimits: option(flag(ours('Do not limit the number of requests a minute.'))),
    fault: option(local('file', 'File with fault rules to apply from the start.'), '<file>'),
    export: option(local('file', 'File for the state of the sandbox at the end.'), '<file>'),
    keepOnFailure: option(flag(ours('Keep the store if the program or the check fails.'))),
    noFinalCheck: option(flag(ours('Do not check the ledger at the end.'))),
  },
  rest: 'run for its exit code',
  examples: [
    { does: 'A test suite', run: 'sandbox exec --data empty --seed 7 -- npm test' },
    { does: 'With every first answer lost', run: 'sandbox exec --fault lost-answers.json -- ./checkout.sh' },
  ],
  async run(ctx, { fault, export: exportFile, keepOnFailure = false, noFinalCheck = false, ...asked }) {
    const { noRateLimits = false, cards, transactions, ...rest } = asked;
    const size = sizeFor(rest.data, { cards, transactions });
    const options = { ...rest, dialect: spokenDialect(ctx.env, rest.dialect), size, rateLimits: !noRateLimits };
    if (ctx.rest.length === 0) throw usage('sandbox exec needs a program after --', 'cardwright sandbox exec --help');
    if (ctx.dryRun) throw usage('sandbox exec sends nothing itself; it has no dry run');
    const faults = fault === undefined ? [] : await readRules(ctx, fault);
    return sandboxExec(ctx, { ...options, faults, exportFile, keepOnFailure, finalCheck: !noFinalCheck });
  },
  show: ({ exit, failure }) => ({ verbatim: '', exit, failure, noun: 'program', columns: [] }),
});
