/** 3DS challenges: listed, waited for, watched. */

import type { Context } from '../../cli/context.ts';
import { columnsOf, rowsListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { option, takes } from '../../cli/parsing/flag.ts';
import { parseTimeWord, quote } from '../../cli/parsing/values.ts';
import { CHALLENGE } from '../../contract/resources.ts';
import { SECOND } from '../../core/durations.ts';
import { CliError, usage } from '../../core/errors.ts';
import { type Cents, centsOf } from '../../core/money.ts';
import type { Challenge } from '../../events/challenges.ts';
import { durationText } from '../../terminal/times.ts';
import { contains } from '../tx/transactions.ts';
import { awaited, LIVE_EVERY_MS, LIVE_FLAGS, liveView, USUAL_WAIT, WAIT_TIMEOUT, waitingOf } from '../wait/flags.ts';

export const CHALLENGE_COLUMNS = columnsOf(CHALLENGE, 'id card_id:4 merchant:2 amount otp status expires_at:3', {
  merchant: { shrink: true },
  otp: 'CODE',
});

const MATCH_FLAGS = {
  merchant: option(takes.text('Only where the merchant contains this.')),
  amount: option(takes.money('Only for exactly this amount, USD.', { min: 1 })),
} as const;

/** The filters of ours. A service that knows no filter sends the challenges of every card. */
function matching(merchant: string | undefined, amount: Cents | undefined, card?: string): (row: object) => boolean {
  return row => {
    const fields = row as Readonly<Record<string, unknown>>;
    if (card !== undefined && fields['card_id'] !== card) return false;
    if (merchant !== undefined && !contains(fields['merchant'], merchant)) return false;
    return amount === undefined || (typeof fields['amount'] === 'number' && centsOf(fields['amount']) === amount);
  };
}

export const listChallenges = command({
  path: '3ds list',
  summary: 'List open 3DS challenges with their one-time codes',
  operation: 'challenges.list',
  flags: { card: 'query.card_id', status: 'query.status', ...MATCH_FLAGS },
  examples: {
    'All that are open': '3ds list',
    'The codes of one card': '3ds list --card card_1 --json --fields otp,expires_at',
  },
  async run(ctx, { card, status, merchant, amount }) {
    const list = await ctx.api.read('challenges.list', { card_id: card, status });
    ctx.ui.maskInLog(list.data.map(({ otp }) => otp));
    return rowsListing(list.data.filter(matching(merchant, amount)), { page: list.page, noun: 'challenge' });
  },
  noun: 'challenge',
  columns: CHALLENGE_COLUMNS,
});

/** A purchase starts a moment before somebody waits for its code; a code of an earlier purchase is older. */
const RECENT_MS = 30 * SECOND;

export const waitChallenge = command({
  path: '3ds wait',
  summary: 'Wait for a 3DS challenge and its one-time code',
  answers: [{ one: CHALLENGE }, { text: 'With --print otp, the code alone.' }],
  about: [
    `Takes a challenge that opens during the wait or opened in the last ${RECENT_MS / SECOND} seconds. So it finds the code of the purchase that has just begun, and not a code that an earlier test left open. --since sets another time, such as the start of the test; --any takes any open challenge; --new only one that opens from now on. A challenge that has expired by the clock of the service is never taken. If several match, that is exit 2.`,
    'The service says when a challenge opened, or it follows from its expiry and a life of five minutes, which is assumed. If neither is known, a challenge that is already open at the first look is not taken; standard error says so.',
    'Asks at once and then at most once a second, even while the service refuses or breaks connections. If none comes in time, that is exit 8 without a code. --timeout limits one request, --wait-timeout the whole wait. Under GitHub Actions the code is masked in the log before it is printed.',
  ],
  operation: 'challenges.list',
  ends: { wait_expired: 'No challenge came within --wait-timeout.' },
  flags: {
    card: 'query.card_id',
    ...MATCH_FLAGS,
    since: option(takes.text('Also a challenge that opened after this time; 2m is two minutes ago.'), '<time>'),
    any: option(takes.flag('Also a challenge that was open before, however old.'), { conflicts: ['since', 'new'] }),
    new: option(takes.flag('Only a challenge that opens from now on.'), { conflicts: ['since'] }),
    latest: option(takes.flag('Of several, the one that expires last.')),
    print: option(takes.choice(['otp'], 'Print the code alone.')),
    waitTimeout: WAIT_TIMEOUT,
  },
  examples: {
    'The code alone': '3ds wait --card card_1 --print otp',
    'Of one purchase': '3ds wait --merchant acme --amount 59 --wait-timeout 5m --print otp',
    'Of a test that began two minutes ago': '3ds wait --card card_1 --since 2m --print otp',
  },
  async run(
    ctx,
    { card, merchant, amount, since, any, new: onlyNew, latest, print, waitTimeout: timeoutMs = USUAL_WAIT },
  ) {
    const isTaken = ageRule(ctx, { since, any: any === true, onlyNew: onlyNew === true });
    const { openChallenges, theOne } = await import('../../events/challenges.ts');
    const { nextRequest } = await import('../../events/poll.ts');
    const isMeant = matching(merchant, amount, card);
    let others = 0;
    let isChecked = card === undefined;
    const look = async (signal: AbortSignal): Promise<Challenge | undefined> => {
      const { data } = await ctx.api.read('challenges.list', { card_id: card }, { signal });
      const open = openChallenges(data, ctx.api.serviceNow());
      const own = await isTaken(open.filter(isMeant));
      others = open.length - own.length;
      const found = theOne(own, latest ?? false);
      if (found === undefined && !isChecked && card !== undefined) {
        // A card that is not there would be waited for in vain.
        await nextRequest(waitingOf(ctx));
        await ctx.api.read('cards.get', { card_id: card }, { signal });
        isChecked = true;
      }
      return found;
    };
    const found = await awaited(ctx, timeoutMs, look);
    if (found === undefined)
      // The last state without any code: one that is printed late may be used late.
      throw new CliError('wait_expired', {
        message: `no challenge came within ${durationText(timeoutMs)}`,
        notes: [others === 0 ? 'No other challenge is open.' : `${others} open, but none that matches.`],
        evidence: { open_others: others, wait_timeout_ms: timeoutMs },
        hint: 'cardwright 3ds list',
      });
    ctx.ui.maskInLog([found.otp]);
    return { found, print };
  },
  noun: 'challenge',
  columns: CHALLENGE_COLUMNS,
  show: ({ found, print }) => ({ ...(print === 'otp' && { verbatim: `${found.otp}\n` }), data: found }),
});

/**
 * Which of the matching challenges are young enough. What was open at the first look and is too old is named once on
 * standard error, without its code, and never taken.
 */
function ageRule(
  ctx: Context,
  { since, any, onlyNew }: { readonly since: string | undefined; readonly any: boolean; readonly onlyNew: boolean },
): (matches: readonly Challenge[]) => Promise<readonly Challenge[]> {
  if (since !== undefined && parseTimeWord(since, ctx.clock.now()) === undefined) {
    throw usage(`--since ${quote(since)} is not a time such as 2026-11-01T14:00:00Z, today or 2m (two minutes ago)`);
  }
  const began = ctx.clock.monotonic();
  let tooOld: ReadonlySet<string> | undefined;
  return async matches => {
    const { facts, openedAt } = await import('../../events/challenges.ts');
    if (tooOld === undefined) {
      // The first answer has told the clock of the service.
      const now = ctx.api.serviceNow();
      const waited = ctx.clock.monotonic() - began;
      const from =
        since === undefined ? now - waited - (onlyNew ? 0 : RECENT_MS) : Date.parse(parseTimeWord(since, now) ?? '');
      // Whatever the first look shows at once was there before; one after trouble may show what has come meanwhile.
      const isAtOnce = onlyNew && waited < SECOND;
      const isYoung = (row: Challenge) => (openedAt(row, now) ?? Number.NaN) >= Math.floor(from / SECOND) * SECOND;
      const old = any ? [] : matches.filter(row => isAtOnce || !isYoung(row));
      tooOld = new Set(old.map(({ id }) => id));
      for (const row of old.slice(0, 5)) ctx.ui.notice(`not taken because it was open before: ${facts(row)}`);
      if (old.length > 0 && !onlyNew)
        ctx.ui.notice('--any also takes a challenge that was open before; --since sets from when.');
    }
    return matches.filter(({ id }) => !tooOld?.has(id));
  };
}

export const watchChallenges = command({
  path: '3ds watch',
  summary: 'Show 3DS challenges and their codes as they come',
  about: 'Asks every two seconds and prints a line for each new challenge, until Ctrl-C. -o ndjson prints objects.',
  operation: 'challenges.list',
  flags: { card: 'query.card_id', ...MATCH_FLAGS, ...LIVE_FLAGS },
  examples: {
    'Of every card': '3ds watch --wait-timeout 1s',
    'Of one card, for a script': '3ds watch --card card_1 --count 1 --wait-timeout 1s -o ndjson',
  },
  async run(ctx, { card, merchant, amount, count, waitTimeout: forMs }) {
    const { openChallenges } = await import('../../events/challenges.ts');
    const { nextRequest } = await import('../../events/poll.ts');
    const isMeant = matching(merchant, amount, card);
    let isSaid = false;
    const look = async () => {
      // Within the first look that goes well: a service in trouble is waited for here too.
      if (!isSaid) {
        const whose = card === undefined ? 'all cards' : await named(card);
        ctx.ui.notice(`Watching ${whose} every ${LIVE_EVERY_MS / SECOND} s. Ctrl-C stops.`);
        isSaid = true;
      }
      const { data } = await ctx.api.read('challenges.list', { card_id: card });
      return openChallenges(data, ctx.api.serviceNow()).filter(isMeant);
    };
    async function named(id: string): Promise<string> {
      const { network, last4 } = await ctx.api.read('cards.get', { card_id: id });
      await nextRequest(waitingOf(ctx));
      return `${network ?? 'the card'} ending ${last4}`;
    }
    return liveView(ctx, 'challenge', { forMs, count, look }, rows => ctx.ui.maskInLog(rows.map(({ otp }) => otp)));
  },
  noun: 'challenge',
  columns: CHALLENGE_COLUMNS,
  show: view => view,
});
