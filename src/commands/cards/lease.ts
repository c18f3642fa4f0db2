/** A card for one run of a program. The card itself tells its end and whose it is, so that any later run can end it. */

import type { Context } from '../../cli/context.ts';
import { columnsOf, countOf } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { duration, option, takes, tells } from '../../cli/parsing/flag.ts';
import { wholeCards } from '../../cli/recent-cards.ts';
import type { Input, Item, Result } from '../../contract/calls.ts';
import { CARD, CREATE_CARD } from '../../contract/card.ts';
import { READ_LAG_PAUSES } from '../../contract/spans.ts';
import { isoTime, MINUTE } from '../../core/durations.ts';
import { CliError, type ErrorKind, usage } from '../../core/errors.ts';
import { dollars } from '../../core/money.ts';
import { randomName } from '../../core/names.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { OpState } from '../../journal/types.ts';
import { rest } from '../../platform/time.ts';
import { durationText } from '../../terminal/times.ts';
import { lineBlock } from '../../terminal/view.ts';
import { recordOf } from '../../writes/audit-record.ts';
import type { GuardDecision } from '../../writes/guard.ts';
import type { UsedIntent, WriteOptions } from '../../writes/single-write.ts';
import { bestBin } from '../bins/bins.ts';
import { PROGRAM_FLAGS } from './cards.ts';
import { NAME_FLAGS, nameOf } from './create.ts';
import { unread } from './state.ts';

export const leaseCard = command({
  path: 'cards lease',
  summary: 'Make a card for one program and terminate it afterwards',
  answers: [
    { none: 'What the program prints.' },
    { one: { terminated: tells.texts('Cards that leases left behind, ended with --reap.') } },
  ],
  about: [
    'The program gets the same environment as with cards exec, and cardwright ends with its exit code. When the program ends, the card is terminated and its balance returns to the wallet.',
    'The card carries the end of the lease and the process that made it. After a crash --reap terminates the cards that are left: at once from this machine, and after the end of the lease from any other. While the operation of a lease is not settled it may still make its card: --reap says which, and is run again after ops resume.',
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
    bin: option(takes.text('BIN to issue from; the best one by default.', { names: 'bin' }), '<bin|auto>'),
    label: 'body.label',
    ttl: duration('Longest life of the card; 20m by default.'),
    intent: NAME_FLAGS.intent,
    purpose: NAME_FLAGS.purpose,
    ...PROGRAM_FLAGS,
    reap: option(takes.flag('Only terminate cards that earlier runs left behind.')),
  },
  rest: 'run for its exit code',
  examples: {
    'Pay with $25': 'cards lease --amount 25 --reveal --yes -- ./checkout.sh',
    'What runs that were killed left': 'cards lease --reap --yes',
  },
  async run(ctx, { amount, bin, label, ttl: ttlMs = 20 * MINUTE, reveal = false, mask = false, reap, ...named }) {
    if (reap) return { reaped: await reapLeases(ctx), exit: 0 };
    if (amount === undefined) throw usage('cards lease needs --amount <usd>', 'cardwright cards lease --help');
    if (ctx.rest.length === 0) throw usage('cards lease needs a program after --', 'cardwright cards lease --help');
    const { intentName, purpose } = nameOf(named);
    if (!ctx.dryRun) {
      await ctx.journal.pipeline.admit({
        audited: recordOf('cards.create', { amount }),
        operations: ['cards.create', 'cards.terminate'],
        check: async () => (await ctx.gate()).checkRunWithCard({ program: ctx.rest, reveal }),
        ask: verdict => askUnlessYes(ctx, verdict, `Lease a card with ${dollars(amount)}, which is terminated then`),
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
      const cardId = await makeLease(ctx, { bin_id: binId, amount, label }, ttlMs, { intentName, purpose, asked });
      const over = new AbortController();
      let [isLate, isEnded] = [false, false];
      const end = async () => {
        if (!isEnded) await terminate(ctx, cardId);
        isEnded = true;
      };
      const expiry = rest(ttlMs, ctx.clock, over.signal).then(async isOver => {
        if (!isOver) return;
        isLate = true;
        ctx.ui.notice(`the ${durationText(ttlMs)} of the lease are over: ${cardId} is terminated`);
        // Tried once more when the program has ended, and said then.
        await end().catch(() => undefined);
      });
      const run = async () => (await ctx.gate()).runWithCard(cardId, { program: ctx.rest, reveal, mask });
      const program = await programEnd(run, cardId, stopped);
      over.abort();
      await expiry;
      await end().catch((thrown: unknown) => {
        throw withProgramEnd(thrown, cardId, program);
      });
      const exit = program.exit();
      // What was paid after the end of the lease failed, whatever the program made of it.
      return { reaped: undefined, exit: isLate && exit === 0 ? 8 : exit };
    } finally {
      takeBack();
    }
  },
  columns: 'terminated',
  show: ({ reaped, exit }) =>
    reaped === undefined
      ? { verbatim: '', exit, noun: 'card', columns: [] }
      : {
          data: { terminated: reaped },
          noun: 'lease',
          quiet: [...reaped],
          rows: { columns: columnsOf(CARD, 'id'), rows: reaped.map(id => ({ id })) },
          blocks: [lineBlock(reaped.length === 0 ? 'No card was left behind.' : `Terminated ${reaped.join(', ')}.`)],
        },
});

/**
 * Runs the program unless a signal came before it. Never rejects: `exit` is its code, or that of the signal, or throws what kept it
 * from running; `words` say the same.
 */
async function programEnd(run: () => Promise<number>, card: string, stopped: NodeJS.Signals | undefined) {
  if (stopped !== undefined) {
    const words = `the program was not run: ${stopped} came before it`;
    return { words, exit: () => (stopped === 'SIGINT' ? 130 : 143) };
  }
  try {
    const code = await run();
    return { words: `the program ended with ${code}`, exit: () => code };
  } catch (thrown) {
    const words = `the program was not run: ${thrown instanceof Error ? thrown.message : thrown}`;
    const exit = () => {
      if (!(thrown instanceof CliError) || AS_IT_IS.has(thrown.kind)) throw thrown;
      const message = `cards.create is done, and ${card} is terminated; ${words}`;
      // 13 says nothing against the card; whatever else it was, the card was made.
      const kind = thrown.kind === 'contract_mismatch' ? thrown.kind : 'check_failed';
      throw new CliError(kind, { ...thrown.facts, message, outcome: 'done' });
    };
    return { words, exit };
  }
}

/** What is told as it is, beside what became of the program: nothing that a script repeats on. */
const AS_IT_IS: ReadonlySet<ErrorKind> = new Set(['outcome_unknown', 'interrupted', 'terminated', 'internal']);

/**
 * The error of an end that failed, with what became of the program. Whatever kept the card from being terminated, it was made,
 * and may have paid: nothing says that nothing was sent, and no script repeats it for that.
 */
function withProgramEnd(thrown: unknown, card: string, { words }: { readonly words: string }): unknown {
  if (!(thrown instanceof CliError)) return thrown;
  const { retryAfterMs: _, ...facts } = thrown.facts;
  const notes = ['Do not run the command again: its card was made, and may have paid.', ...(facts.notes ?? [])];
  if (AS_IT_IS.has(thrown.kind)) return thrown.with({ message: `${thrown.message}; ${words}`, notes });
  return new CliError('check_failed', {
    ...facts,
    message: `cards.create is done, but ${card} could not be terminated: ${facts.message}; ${words}`,
    notes,
    outcome: 'done',
  });
}

/** Metadata of a leased card: `lease_<name> until <ISO time by the service's clock> by <process>`. */
const LEASE_MARK = 'cardwright_lease';

/** Makes the card. When it is not known whether there is one, its mark leads the reaper to it. */
async function makeLease(
  ctx: Context,
  card: Input<'cards.create'>,
  ttlMs: number,
  { asked, ...named }: Pick<WriteOptions<undefined>, 'intentName' | 'purpose' | 'asked'>,
): Promise<string> {
  const id = `lease_${randomName(ctx.random.bytes(8))}`;
  // The first answer tells the time there.
  await ctx.api.read('wallet.get', {});
  const until = isoTime(ctx.api.serviceNow() + ttlMs);
  const mark = `${id} until ${until} by ${(await ctx.processes()).own}`;
  // The mark of the lease is ours, and another one each time: what is asked for is a lease.
  const asks = { ...asked, metadata: { [LEASE_MARK]: 'lease' } };
  const options = { ...named, intent: 'Lease a card', asked: asks, confirmed: true, showsEarlier: false } as const;
  const body = { ...card, metadata: { [LEASE_MARK]: mark } };
  const { result, intent } = await ctx.api.write('cards.create', body, { ...options, command: leaseCard.path });
  if (intent?.repeated) throw leasedBefore(intent, result.id);
  await proveOurs(ctx, result, mark);
  return result.id;
}

/**
 * The program of the earlier command has run, or was stopped, and may have paid: run again it would pay with a card that is
 * over. Where that command never told what came of its card, this one may have made it: no "nothing was sent" then.
 */
function leasedBefore({ name, op, isUnacknowledged = false }: UsedIntent, card: string): CliError {
  const [kind, outcome, note, hint] = isUnacknowledged
    ? ([
        'check_failed',
        'done',
        'Until ops resume has shown its result, the same lease is refused, also with another intent or none.',
        `cardwright ops resume ${op}`,
      ] as const)
    : ([
        'guarded',
        'not_sent',
        'Another purchase needs another intent.',
        `cardwright cards get ${shellWord(card)}`,
      ] as const);
  return new CliError(kind, {
    message: `the lease of the intent ${JSON.stringify(name)} was begun before, with ${card}: ${op}; the program was not run`,
    notes: [note, 'A card that a killed run has left: cardwright cards lease --reap'],
    hint,
    outcome,
    op,
  });
}

/**
 * A card that does not carry the mark of the lease may be anybody's: it is neither used nor terminated. Throws
 * `contract_mismatch` with what to do by hand.
 */
async function proveOurs(ctx: Context, { id }: Result<'cards.create'>, mark: string): Promise<void> {
  // An answer repeats what was asked for; the card itself tells whose it is, and a reading may be behind.
  for (const pause of [...READ_LAG_PAUSES, 0]) {
    const card = await ctx.api.read('cards.get', { card_id: id }).catch(unread);
    if (card?.metadata?.[LEASE_MARK] === mark) return;
    if (card?.metadata || !(await rest(pause, ctx.clock, ctx.signal))) break;
  }
  throw new CliError('contract_mismatch', {
    message: `a card was requested and ${id} came back, but it does not carry the marker of this lease: it is neither used nor terminated`,
    notes: ['A service that does not return the metadata of a card cannot be used for leases.'],
    hint: `cardwright cards get ${shellWord(id)}`,
    outcome: 'unknown',
    operation: 'cards.create',
  });
}

/** When that fails it is said which card still holds money, and how to end it. `isReaping`: the reaper is no way on from its own failure. */
async function terminate(ctx: Context, cardId: string, { isReaping = false } = {}): Promise<void> {
  try {
    await ctx.api.write('cards.terminate', { card_id: cardId }, { intent: `Terminate ${cardId}`, confirmed: true });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { op, notes = [], hint: own = `cardwright cards get ${shellWord(cardId)}` } = error.facts;
    // What is not known is settled first; nothing is sent beside it.
    const isUnknown = op !== undefined && ['outcome_unknown', 'guarded'].includes(error.kind);
    const reap = 'cardwright cards lease --reap --yes';
    const next = isUnknown
      ? [`The leased card ${cardId} may still hold money. When that is clear: ${reap}`]
      : [`The leased card ${cardId} may still hold money.`];
    const hint = isReaping ? own : reap;
    throw error.with({ notes: [...notes, ...next], hint: isUnknown ? `cardwright ops resume ${op}` : hint });
  }
}

/** A script must have said `--yes`, whatever the guard asks for. */
async function askUnlessYes(ctx: Context, verdict: GuardDecision, intent: string): Promise<void> {
  if (!ctx.ui.yes && (!ctx.ui.canAsk || verdict !== 'go')) await ctx.ui.ask({ intent });
}

const MARKED = /^lease_[0-9a-z]+ until (\S+)(?: by (\S+))?$/;

/**
 * Terminates leased cards whose run is gone, and those of any machine whose time is over by the service's clock.
 * Resolves to their ids. Throws `not_confirmed` off a terminal without `--yes`, `guarded` for a live key.
 */
async function reapLeases(ctx: Context): Promise<readonly string[]> {
  // Of these nobody works on, a resume may make the card, for no program. Asked before the cards are read: what is settled by then
  // has its card among them.
  const { profile } = await ctx.api.identity();
  const unsettled: readonly OpState[] = ['open', 'unknown', 'pending'];
  const waiting = (await (await ctx.journal.open()).list()).filter(
    op => op.command === leaseCard.path && op.profile === profile && unsettled.includes(op.state),
  );
  const { isGone } = await ctx.processes();
  const isOpen = ({ status }: Item<'cards.list'>) => status !== 'terminated';
  const cards = await wholeCards(ctx, 'A leased card that is not seen would stay open', isOpen);
  const isDue = ({ metadata }: Item<'cards.list'>) => {
    const [, until, by] = MARKED.exec(metadata?.[LEASE_MARK] ?? '') ?? [];
    return until !== undefined && (Date.parse(until) <= ctx.api.serviceNow() || (by !== undefined && isGone(by)));
  };
  const due = cards.filter(isDue).map(({ id }) => id);
  const counted = countOf(due.length, 'leased card');
  if (due.length > 0) {
    await ctx.journal.pipeline.admit({
      audited: { event: 'run', operation: 'cards.terminate', rows: due.length },
      operations: ['cards.terminate'],
      ask: verdict => askUnlessYes(ctx, verdict, `Terminate ${counted}, ${due.join(', ')}`),
    });
  }
  const failed: unknown[] = [];
  for (const id of due) {
    // One that cannot be ended keeps no other from its end.
    await terminate(ctx, id, { isReaping: true }).catch((error: unknown) => void failed.push(error));
  }
  const [first] = failed;
  const isKnown = first instanceof CliError && ['not_sent', 'refused'].includes(first.facts.outcome ?? 'not_sent');
  // Where others are terminated, it does not say that nothing was sent.
  if (isKnown && failed.length < due.length) {
    const message = `${due.length - failed.length} of ${counted} terminated: ${first.facts.message}`;
    throw new CliError('partly_failed', { ...first.facts, message, outcome: 'refused' });
  }
  if (failed.length > 0) throw first;
  for (const { op } of waiting) {
    ctx.ui.notice(
      `note: ${op} is not settled, and may still make the card of a lease; settle it, and run --reap again: cardwright ops resume ${op}`,
    );
  }
  return due;
}
