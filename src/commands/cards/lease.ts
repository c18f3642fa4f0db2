import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { parseDuration } from '../../cli/parsing/globals.ts';
import { usage } from '../../cli/parsing/values.ts';
import { CREATE_CARD } from '../../contract/card.ts';
import { flag, text } from '../../contract/field.ts';
import { dollars } from '../../core/money.ts';
import { recordOf } from '../../writes/audit-record.ts';
import { bestBin } from '../bins/rank.ts';
import { PROGRAM_FLAGS } from './arguments.ts';
import { intent, intentNamed } from './intent-flag.ts';
import { LEASE_ANSWERS } from './lease-answers.ts';
import { reapLeases } from './lease-reaper.ts';
import { programEnd, withProgramEnd } from './leased-program.ts';
import { confirmLease, endLease, makeLease } from './leases.ts';

const DEFAULT_TTL = '20m';

/** A card for the length of one program. */
export const leaseCard = command({
  path: 'cards lease',
  summary: 'Make a card for one program and terminate it afterwards',
  answers: LEASE_ANSWERS,
  about: [
    'The program gets the same environment as with cards exec, and cardwright ends with its exit code. When the program ends, the card is terminated and its balance returns to the wallet.',
    'The end of the lease is stored on this machine and on the card before the card is used. After a crash --reap terminates the cards that are left: at once from this machine, and after the end of the lease from any other. While the operation of a lease is not settled it may still make its card: --reap says which, and is run again after ops resume.',
    'A lease with an --intent that was begun before ends with 14, and the program is not run: it may have paid. Where the earlier command never told what came of its card, this one settles it first and ends with 15. The same lease again, after one whose outcome is unknown or that was killed, ends with 14 until ops resume has told its result; of another operator it is another lease where one of the two has an --intent.',
    'In a script give --reveal and --yes. A live key needs the same as with cards exec.',
  ],
  operation: 'cards.create',
  ends: {
    wait_expired: 'The program ended with 0 after the time of the lease.',
    partly_failed: 'With --reap: some cards are terminated, and others are not.',
    check_failed:
      'The card was made, and could not be terminated, or an earlier lease with this --intent made it. The message says what became of the program.',
  },
  flags: {
    amount: option(CREATE_CARD.amount),
    bin: option(text({ doc: 'BIN to issue from; the best one by default.', basis: OURS, names: 'bin' }), '<bin|auto>'),
    label: 'body.label',
    ttl: option(text({ doc: `Longest life of the card; ${DEFAULT_TTL} by default.`, basis: OURS }), '<duration>'),
    intent,
    ...PROGRAM_FLAGS,
    reap: option(flag({ doc: 'Only terminate cards that earlier runs left behind.', basis: OURS })),
  },
  rest: 'run for its exit code',
  examples: [
    { does: 'Pay with $25', run: 'cards lease --amount 25 --reveal --yes -- ./checkout.sh' },
    { does: 'What runs that were killed left', run: 'cards lease --reap --yes' },
  ],
  async run(ctx, { amount, bin, label, ttl, intent: name, reveal = false, mask = false, reap }) {
    if (reap) return { reaped: await reapLeases(ctx), exit: 0 };
    if (amount === undefined) throw usage('cards lease needs --amount <usd>', 'cardwright cards lease --help');
    if (ctx.rest.length === 0) throw usage('cards lease needs a program after --', 'cardwright cards lease --help');
    const intentName = intentNamed(name);
    const ttlMs = parseDuration(ttl ?? DEFAULT_TTL, '--ttl');
    if (!ctx.dryRun) {
      await ctx.pipeline.admit({
        audited: recordOf('cards.create', { amount }),
        operations: ['cards.create', 'cards.terminate'],
        check: () => ctx.checkRunWithCard({ program: ctx.rest, reveal }),
        ask: verdict => confirmLease(ctx, verdict, dollars(amount)),
      });
    }
    const isOurs = bin === undefined || bin === 'auto';
    const binId = isOurs ? (await bestBin(ctx, amount)).id : bin;
    const asked = isOurs ? { bin_id: 'auto' } : {};
    let stopped: NodeJS.Signals | undefined;
    // A signal ends the program, not the cleaning after it; a second one ends that too, and --reap is left.
    const takeBack = ctx.takeSignals(name => {
      takeBack();
      stopped = name;
    });
    try {
      const lease = await makeLease(ctx, { bin_id: binId, amount, label }, { ttlMs, intentName, asked });
      const over = new AbortController();
      let isLate = false;
      const expiry = ctx.clock.sleep(ttlMs, over.signal).then(
        async () => {
          isLate = true;
          ctx.notice(`the ${ttl ?? DEFAULT_TTL} of the lease are over: ${lease.cardId} is terminated`);
          // Tried once more when the program has ended, and said then.
          await endLease(ctx, lease).catch(() => undefined);
        },
        () => undefined,
      );
      const run = () => ctx.runWithCard(lease.cardId, { program: ctx.rest, reveal, mask });
      const program = await programEnd(run, stopped);
      over.abort();
      await expiry;
      await endLease(ctx, lease).catch((thrown: unknown) => {
        throw withProgramEnd(thrown, lease.cardId, program);
      });
      const exit = program.exit();
      // What was paid after the end of the lease failed, whatever the program made of it.
      return { reaped: undefined, exit: isLate && exit === 0 ? 8 : exit };
    } finally {
      takeBack();
    }
  },
  show: ({ reaped, exit }) =>
    reaped === undefined
      ? { verbatim: '', exit, noun: 'card', columns: [] }
      : {
          data: { terminated: reaped },
          noun: 'lease',
          quiet: [...reaped],
          columns: [{ field: 'terminated', title: 'TERMINATED', kind: 'list', priority: 1 }],
          blocks: [
            {
              kind: 'line',
              text: reaped.length === 0 ? 'No card was left behind.' : `Terminated ${reaped.join(', ')}.`,
            },
          ],
        },
});
