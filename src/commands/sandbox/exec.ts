import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { sandboxExec } from '../../cli/sandbox-exec.ts';
import { choice, flag, integer, text } from '../../contract/field.ts';
import { ADMIN_OPERATIONS, DATA_SETS } from '../../contract/sandbox/admin.ts';
import { DIALECT_NAMES } from '../../contract/sandbox/faults.ts';
import { readRules } from './faults/read-rules.ts';
import { sizeFor } from './load-size.ts';
import { spokenDialect } from './spoken.ts';

const ours = (doc: string) => ({ doc, basis: OURS });

/** Runs one program with a sandbox of its own and checks the books when it is over. */
export const sandboxExecute = command({
  path: 'sandbox exec',
  summary: 'Run a program with a sandbox of its own, and check the books at its end',
  answers: { none: 'What the program prints.' },
  about: [
    'The program gets CARDWRIGHT_BASE_URL and CARDWRIGHT_API_KEY, CARDWRIGHT_SANDBOX_URL and CARDWRIGHT_SANDBOX_TOKEN, CARDWRIGHT_WEBHOOK_SECRET (of subscriptions that name none), CARDWRIGHT_CONFIG_DIR (a fresh folder) and CARDWRIGHT_TEST_ONLY=1, and no other CARDWRIGHT_ variable. It runs without a shell and has our standard output to itself.',
    'Ends with its exit code, 128 and the number after a signal; 12 when the sandbox did not start, 15 in place of 0 when the books do not agree at the end. Before that webhooks that are due are sent, for at most two seconds. Of a program that failed the last 20 requests and the webhooks that did not arrive are shown.',
    'SIGTERM and SIGHUP are passed on, Ctrl-C reaches the program by itself; a second one kills it.',
  ],
  reach: 'files',
  ends: {
    unreachable: 'The sandbox did not start.',
    check_failed: 'The program ended with 0 and the books do not agree.',
  },
  flags: {
    seed: option(integer({ ...ours('Seed of ids, numbers and codes.'), min: 0 })),
    data: option(choice(DATA_SETS, { ...ours('Data set to begin with.'), defaults: 'demo' })),
    cards: option(ADMIN_OPERATIONS.reset.body.cards),
    transactions: option(ADMIN_OPERATIONS.reset.body.transactions),
    dialect: option(choice(DIALECT_NAMES, ours('How it speaks, to meet answers of other services.'))),
    noRateLimits: option(flag(ours('Take as many requests a minute as come.'))),
    fault: option(text(ours('File with fault rules that are in force from the start.')), '<file>'),
    export: option(text(ours('File that takes everything the sandbox holds at the end.')), '<file>'),
    keepOnFailure: option(flag(ours('Keep the store when the program or the check failed.'))),
    noFinalCheck: option(flag(ours('Do not check the books at the end.'))),
  },
  rest: 'run for its exit code',
  examples: [
    { does: 'A test suite', run: 'sandbox exec --data empty --seed 7 -- npm test' },
    { does: 'With every first answer lost', run: 'sandbox exec --fault lost-answers.json -- ./checkout.sh' },
  ],
  async run(ctx, { fault, export: exportFile, keepOnFailure = false, noFinalCheck = false, ...asked }) {
    const { noRateLimits = false, cards, transactions, ...rest } = asked;
    const size = sizeFor(rest.data, { cards, transactions });
    const wishes = { ...rest, dialect: spokenDialect(ctx.env, rest.dialect), size, rateLimits: !noRateLimits };
    if (ctx.rest.length === 0) throw usage('sandbox exec needs a program after --', 'cardwright sandbox exec --help');
    if (ctx.dryRun) throw usage('sandbox exec sends nothing itself; it has no dry run');
    const faults = fault === undefined ? [] : await readRules(ctx, fault);
    return sandboxExec(ctx, { ...wishes, faults, exportFile, keepOnFailure, finalCheck: !noFinalCheck });
  },
  show: ({ exit, failure }) => ({ verbatim: '', exit, failure, noun: 'program', columns: [] }),
});
