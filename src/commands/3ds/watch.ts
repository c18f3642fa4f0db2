import { command } from '../../cli/parsing/command.ts';
import { dollars, toCents } from '../../core/money.ts';
import type { Challenge } from '../../events/challenges.ts';
import { durationText, timeOfDay } from '../../terminal/times.ts';
import type { Row } from '../../terminal/view.ts';
import { exitOf, LIVE_FLAGS, liveFor, onTroubleOf, waitingOf } from '../wait/flags.ts';
import { CHALLENGE_COLUMNS, MATCH_FLAGS, matching } from './match.ts';

const EVERY_MS = 2_000;

/** Shows one-time codes as they come. */
export const watchChallenges = command({
  path: '3ds watch',
  summary: 'Show 3DS challenges and their codes as they come',
  about: ['Asks every two seconds and prints a line for each new challenge, until Ctrl-C. -o ndjson prints objects.'],
  operation: 'challenges.list',
  flags: { card: 'query.card_id', ...MATCH_FLAGS, ...LIVE_FLAGS },
  examples: [
    { does: 'Of every card', run: '3ds watch --wait-timeout 1s' },
    { does: 'Of one card, for a script', run: '3ds watch --card card_1 --count 1 --wait-timeout 1s -o ndjson' },
  ],
  async run(ctx, { card, merchant, amount, count, waitTimeout: typed }) {
    const forMs = liveFor(typed);
    const { openChallenges } = await import('../../events/challenges.ts');
    const { live } = await import('../../events/live.ts');
    const { nextRequest } = await import('../../events/poll.ts');
    const waiting = waitingOf(ctx);
    const began = ctx.clock.monotonic();
    const isMeant = matching({ merchant, amount });
    let isSaid = false;
    const look = async () => {
      // Within the first look that goes well: a service in trouble is waited for here too.
      if (!isSaid) {
        const whose = card === undefined ? 'all cards' : await named(card);
        ctx.notice(`Watching ${whose} every ${EVERY_MS / 1000} s. Ctrl-C stops.`);
        isSaid = true;
      }
      const { data } = await ctx.read('challenges.list', { card_id: card });
      const open = openChallenges(data, ctx.serviceNow());
      return open.filter(row => (card === undefined || row.card_id === card) && isMeant(row));
    };
    async function named(id: string): Promise<string> {
      const { network, last4 } = await ctx.read('cards.get', { card_id: id });
      await nextRequest(waiting);
      return `${network ?? 'the card'} ending ${last4}`;
    }
    async function* batches() {
      const view = { everyMs: EVERY_MS, forMs, count, look, onTrouble: onTroubleOf(ctx) };
      for await (const rows of live<Challenge>(waiting, view)) {
        ctx.maskInLog(rows.map(({ otp }) => otp));
        yield rows as unknown as readonly Row[];
      }
    }
    const listing = {
      batches: batches(),
      page: () => ({}),
      line: (row: Row) => lineOf(row as unknown as Challenge, { at: ctx.clock.now(), now: ctx.serviceNow() }),
      footer: (rows: number) =>
        `${rows} ${rows === 1 ? 'challenge' : 'challenges'} in ${durationText(ctx.clock.monotonic() - began)}.`,
    };
    return { listing, exit: () => exitOf(ctx.signal) };
  },
  show: ({ listing, exit }) => ({ listing, exit, noun: 'challenge', columns: CHALLENGE_COLUMNS }),
});

/** `14:05:12  tds_3  Acme Ltd  $59.00  code 481920  expires in 4m58s`; the code without gaps, to be copied. */
function lineOf({ id, merchant, amount, otp, expires_at }: Challenge, times: { at: number; now: number }): string {
  const ends = expires_at ? Date.parse(expires_at) : Number.NaN;
  const parts = [
    timeOfDay(times.at),
    id,
    merchant,
    amount == null ? undefined : dollars(toCents(amount)),
    `code ${otp}`,
  ];
  if (!Number.isNaN(ends)) parts.push(`expires in ${durationText(ends - times.now)}`);
  return parts.filter(part => part).join('  ');
}
