import { command } from '../../cli/command.ts';
import { OURS, option } from '../../cli/flag.ts';
import { choice, flag } from '../../contract/field.ts';
import { CHALLENGE } from '../../contract/resources.ts';
import { CliError } from '../../errors.ts';
import type { Challenge } from '../../events/challenges.ts';
import { durationText } from '../../terminal/times.ts';
import { onTroubleOf, WAIT_TIMEOUT, waitingOf, waitTimeout } from '../wait/flags.ts';
import { CHALLENGE_COLUMNS, MATCH_FLAGS, matching } from './match.ts';

/** Waits for a 3DS challenge and its one-time code. */
export const waitChallenge = command({
  path: '3ds wait',
  summary: 'Wait for a 3DS challenge and its one-time code',
  answers: { either: [{ one: CHALLENGE }, { text: 'With --print otp, the code alone.' }] },
  about: [
    'Takes one that is open, also when it was opened before; --new wants one that opens from now on. What has expired by the clock of the service does not count. Several that match are exit 2.',
    'Asks at once and then at most once a second; when none comes, exit 8 and no code. Under GitHub Actions the code is hidden in the log before it is printed.',
  ],
  operation: 'challenges.list',
  ends: { wait_expired: 'No challenge came within --wait-timeout.' },
  flags: {
    card: 'query.card_id',
    ...MATCH_FLAGS,
    new: option(flag({ doc: 'Only one that opens from now on.', basis: OURS })),
    latest: option(flag({ doc: 'Of several, the one that expires last.', basis: OURS })),
    print: option(choice(['otp'], { doc: 'Print the code alone.', basis: OURS })),
    waitTimeout: WAIT_TIMEOUT,
  },
  examples: [
    { does: 'The code alone', run: '3ds wait --card card_1 --print otp' },
    { does: 'Of one purchase', run: '3ds wait --merchant acme --amount 59 --wait-timeout 5m --print otp' },
  ],
  async run(ctx, { card, merchant, amount, new: onlyNew, latest, print, waitTimeout: typed }) {
    const timeoutMs = waitTimeout(typed);
    const { openChallenges, theOne } = await import('../../events/challenges.ts');
    const { nextRequest, waitFor } = await import('../../events/poll.ts');
    const waiting = waitingOf(ctx);
    const isMeant = matching({ merchant, amount });
    let before: ReadonlySet<string> | undefined;
    let others = 0;
    let isChecked = card === undefined;
    const look = async (): Promise<Challenge | undefined> => {
      const { data } = await ctx.read('challenges.list', { card_id: card });
      const open = openChallenges(data, ctx.serviceNow());
      if (onlyNew) before ??= new Set(data.map(({ id }) => id));
      // A service that knows no filter sends the challenges of every card.
      const own = open.filter(
        row => (card === undefined || row.card_id === card) && isMeant(row) && !before?.has(row.id),
      );
      others = open.length - own.length;
      const found = theOne(own, latest ?? false);
      if (found === undefined && !isChecked && card !== undefined) {
        // A card that is not there would be waited for in vain.
        await nextRequest(waiting);
        await ctx.read('cards.get', { card_id: card });
        isChecked = true;
      }
      return found;
    };
    const found = await waitFor(waiting, { timeoutMs, look, onTrouble: onTroubleOf(ctx) });
    if (found === undefined) throw nothingCame(timeoutMs, others);
    ctx.maskInLog([found.otp]);
    return { found, print };
  },
  show: ({ found, print }) => ({
    ...(print === 'otp' && { verbatim: `${found.otp}\n` }),
    data: found,
    noun: 'challenge',
    columns: CHALLENGE_COLUMNS,
  }),
});

/** The last state without any code: one that is printed late may be used late. */
function nothingCame(timeoutMs: number, others: number): CliError {
  const open = others === 0 ? 'No other challenge is open.' : `${others} open, none that was asked for.`;
  return new CliError('wait_expired', {
    message: `no challenge came within ${durationText(timeoutMs)}`,
    notes: [open],
    evidence: { open_others: others },
    hint: 'cardwright 3ds list',
  });
}
