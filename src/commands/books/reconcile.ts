import { FINDING_CLASSES } from '../../books/findings.ts';
import { orNull, tells } from '../../cli/answer-fields.ts';
import { OFFLINE } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { parseDuration } from '../../cli/parsing/globals.ts';
import { parseTimeWord } from '../../cli/parsing/time-words.ts';
import { usage } from '../../cli/parsing/values.ts';
import { flag, text } from '../../contract/field.ts';
import { leftOutText } from '../tx/sums.ts';
import { reportOf, shownReport } from './report.ts';

const DEFAULT_WAIT = '2m';

const CUT = {
  cut: tells.text('Id of the cut.'),
  at: tells.time('Its instant.'),
} as const;

const LEFT_OUT = {
  records: tells.count('How many.'),
  currencies: tells.texts('Their currencies.'),
} as const;

const WALLET = {
  opening: tells.usd('Before, USD.'),
  deposits: tells.usd('Deposited, USD.'),
  created: tells.usd('To new cards of own rows, USD.'),
  funded: tells.usd('To cards by own rows, USD.'),
  withdrawn: tells.usd('From cards by own rows, USD.'),
  returned: tells.usd('Back from terminated cards, USD.'),
  other: tells.usd('By others, or before the books of a first cut begin, USD; negative when it left.'),
  residual: tells.usd('Not explained, USD.'),
  closing: tells.usd('Now, USD.'),
} as const;

const CARD = {
  card_id: tells.text('Card.'),
  last4: orNull(tells.text('Its last four digits.')),
  label: orNull(tells.text('Its label.')),
  opening: tells.usd('Balance before, USD.'),
  funded: tells.usd('Created and funded by own rows, USD.'),
  withdrawn: tells.usd('Withdrawn by own rows, USD.'),
  settled: tells.usd('Settled, USD.'),
  refunded: tells.usd('Refunded, USD.'),
  holds_change: tells.usd('Held now less held before, USD.'),
  returned: tells.usd('Back to the wallet when terminated and after, USD.'),
  other: tells.usd('By others, or where the books of a first cut begin, USD.'),
  residual: tells.usd('Not explained, USD.'),
  closing: tells.usd('Balance now, USD.'),
} as const;

const FINDING = {
  class: tells.word('What it is.', FINDING_CLASSES),
  candidates: tells.texts('The card, or every card that explains it equally well; none for wallet and totals.'),
  amount: tells.usd('Signed effect on the card or the wallet, USD.'),
  records: tells.texts('Transaction records that show it.'),
  rows: tells.texts('Own rows, as operation.row.'),
  provisional: tells.yes('Open holds may still explain it otherwise.'),
  about: tells.yes('Another spender moved about this much: holds blur how much.'),
  wrong: tells.yes('It makes the verdict unexplained.'),
  text: tells.text('One sentence.'),
  next: orNull(tells.text('The next command.')),
} as const;

/** Proves that the money of the account adds up, or names what does not. */
export const reconcileAccount = command({
  path: 'books reconcile',
  summary: 'Prove that the money of the account adds up, to the cent',
  answers: {
    one: {
      from: orNull(tells.object(CUT, 'The cut it is compared with; null for the first one.')),
      to: tells.object({ ...CUT, exact: tells.yes('Everything is explained for good.') }, 'The cut that was made.'),
      verdict: tells.word('What came of it.', ['baseline', 'balanced', 'provisional', 'unexplained']),
      residual: tells.usd('Sum of what is wrong, USD, without signs.'),
      requests: tells.count('Requests that were sent.'),
      cards_in_all: tells.count('Cards that were compared.'),
      left_out: tells.object(LEFT_OUT, 'Records since the earlier cut in another currency than USD: no sum has them.'),
      wallet: tells.object(
        WALLET,
        'The wallet: closing = opening + deposits - created - funded + withdrawn + returned + other + residual.',
      ),
      cards: tells.rows(
        CARD,
        'Cards that moved; all with --all. closing = opening + funded - withdrawn - returned - settled + refunded - holds_change + other + residual.',
      ),
      findings: tells.rows(FINDING, 'What was found.'),
    },
  },
  about: [
    'Brings the mirror up to date, then compares wallet, balances, records and own rows with the last exact cut. The first run is the baseline. Nothing is changed at the service; the cut and the report are kept in the mirror.',
    'With --to a cut, two kept cuts are held against each other once more, by what was known at the later one: nothing is sent and nothing is kept.',
    'A record in another currency than USD counts as nothing, and left_out says how many there are: nobody tells the rate.',
    'A partial reversal leaves no trace in any list. What open holds explain is provisional until their authorizations close, and is judged again from the last exact cut.',
    'Exit 15 when something is not explained: a record is missing or changed, money left without one, totals disagree. What other spenders moved is named and is no failure; with --sole-operator it is one. An account that moved at each reading has no verdict: exit 8.',
  ],
  reach: 'service',
  ends: {
    check_failed: 'Something is not explained. The report stands on standard output.',
    wait_expired: 'The account moved at each reading, or with --offline while it was synced; there is no verdict.',
    unreachable: 'With --offline there is no copy, or the service cannot be asked.',
    guarded: 'The mirror is of another account, or the profile has mirror off.',
    contract_mismatch: 'The wallet lacks the totals that the sums need.',
  },
  flags: {
    from: option(
      text({ doc: 'A cut, or a time: the last cut before it. The last exact one when left out.', basis: OURS }),
    ),
    to: option(
      text({ doc: 'A cut, to hold two of them against each other; now when left out.', basis: OURS }),
      '<now|cut>',
    ),
    card: option(text({ doc: 'Show this card alone.', basis: OURS, names: 'card' })),
    soleOperator: option(flag({ doc: 'Nobody else may move money here.', basis: OURS })),
    all: option(flag({ doc: 'Show cards that did not move, too.', basis: OURS })),
    offline: OFFLINE,
    waitTimeout: option(
      text({ doc: `How long to wait for an account that moves; ${DEFAULT_WAIT} when left out.`, basis: OURS }),
      '<duration>',
    ),
  },
  examples: [
    { does: 'Since the last exact cut', run: 'books reconcile' },
    { does: 'In CI, where nobody else may spend', run: 'books reconcile --sole-operator' },
    { does: 'The verdict for a script', run: 'books reconcile --jq .verdict' },
  ],
  async run(ctx, { from, to, card, soleOperator, all = false, offline, waitTimeout }) {
    const patienceMs = parseDuration(waitTimeout ?? DEFAULT_WAIT, '--wait-timeout');
    const base = from === undefined || from.startsWith('cut_') ? from : timeOf(from, ctx.serviceNow());
    if (to !== undefined && to !== 'now' && !to.startsWith('cut_')) throw usage(`--to takes now or a cut, not ${to}`);
    try {
      const mirror = await ctx.mirror();
      const options = { from: base, to: to === 'now' ? undefined : to, soleOperator, offline, patienceMs };
      const report = (done: Parameters<typeof reportOf>[0]) => JSON.stringify(reportOf(done, { all: false }));
      const done = reportOf(await mirror.reconcile({ ...options, report }), { all, card });
      if (done.left_out.records > 0) ctx.notice(leftOutText(done.left_out.records));
      return done;
    } finally {
      ctx.progress.clear();
    }
  },
  show: shownReport,
});

/** ms UTC. */
function timeOf(typed: string, now: number): number {
  const time = parseTimeWord(typed, now);
  if (time !== undefined) return Date.parse(time);
  throw usage(`--from ${typed} is neither a cut nor a time such as 2026-11-01 or 7d`);
}
