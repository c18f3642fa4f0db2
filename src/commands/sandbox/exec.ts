/** One program with a sandbox of its own, from start to final check (docs/design/sandbox.md, section 1). */
import type { ChildEnd } from '../../app/programs.ts';
import type { Context } from '../../cli/context.ts';
import { local, option } from '../../cli/parsing/flag.ts';
import type { SandboxAdmin } from '../../contract/sandbox/admin.ts';
import { CliError, usage } from '../../core/errors.ts';
import { command } from './admin.ts';
import { readRules } from './faults.ts';
import { STORE_FLAGS, storeOptions } from './server.ts';

const DRAIN_MS = 2_000;
const REQUESTS_TOLD = 20;
const DELIVERIES_TOLD = 100;

/** What the service saw, for somebody who reads the log of a build. Secrets never were in it. */
async function tell({ ui: { notice } }: Context, admin: SandboxAdmin): Promise<void> {
  const { result: requests } = await admin.send('requests', { per_page: REQUESTS_TOLD });
  const { length } = requests.data;
  const which = ['no request came', 'the only request that came', `the last ${length} requests, oldest first`];
  notice(`sandbox exec: ${which[Math.min(length, 2)]}`);
  for (const { operation, method, path, status, error, fault, request_id, card_id } of [...requests.data].reverse()) {
    const more = [error, card_id, fault == null ? undefined : `fault ${fault}`].filter(word => word != null);
    notice(`  ${status} ${method} ${path} (${operation}) ${[request_id, ...more].join(' ')}`);
  }
  const { result: deliveries } = await admin.send('deliveries', { per_page: DELIVERIES_TOLD });
  const undelivered = deliveries.data.filter(
    ({ state, attempt }) => state === 'failed' || (state === 'queued' && attempt > 0),
  );
  if (undelivered.length > 0) notice('sandbox exec: webhooks that did not arrive');
  for (const { event, webhook_id, state, attempt, attempts, id } of undelivered) {
    const last = attempts?.at(-1);
    const answer = last?.status ?? last?.error ?? 'no answer';
    notice(
      `  ${event} to ${webhook_id}: ${state} after ${attempt} ${attempt === 1 ? 'try' : 'tries'}, ${answer} ${id}`,
    );
  }
}

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
    ...STORE_FLAGS,
    fault: option(local('file', 'File with fault rules to apply from the start.'), '<file>'),
  },
  rest: 'run for its exit code',
  dryRun: false,
  examples: {
    'A test suite': 'sandbox exec --data empty --seed 7 -- npm test',
    'With every first answer lost': 'sandbox exec --fault lost-answers.json -- ./checkout.sh',
  },
  async run(ctx, { fault, ...asked }) {
    const options = storeOptions(ctx, asked);
    if (ctx.rest.length === 0) throw usage('sandbox exec needs a program after --', 'cardwright sandbox exec --help');
    const faults = fault === undefined ? [] : await readRules(ctx, fault);
    const sandbox = await (await ctx.sandbox.servers()).openPrivate(options);
    let end: ChildEnd;
    let broken: readonly string[];
    try {
      for (const rule of faults) await sandbox.admin.send('faults.add', { match: {}, ...rule });
      end = await sandbox.run(ctx.rest);
      await sandbox.drain(DRAIN_MS);
      broken = (await sandbox.admin.send('ledger.check', {})).result.faults;
      if (end.code !== 0 || broken.length > 0) await tell(ctx, sandbox.admin);
    } finally {
      await sandbox.close();
    }
    // What its exit code stands for is the last that is said.
    const how = end.signal === undefined ? `ended with ${end.code}` : `was ended by ${end.signal} (${end.code})`;
    const books = broken.length > 0 ? `the ledger of the sandbox does not balance: ${broken.join('; ')}` : undefined;
    if (end.code === 0 && books !== undefined) {
      const failure = new CliError('check_failed', { message: `sandbox exec: the program ${how}, but ${books}` });
      return { exit: 15, failure };
    }
    const told = books === undefined ? '; the ledger of the sandbox balances' : `, and ${books}`;
    ctx.ui.notice(`sandbox exec: the program ${how}${told}`);
    return { exit: end.code, failure: undefined };
  },
  noun: 'program',
  show: ({ exit, failure }) => ({ verbatim: '', exit, failure }),
});
