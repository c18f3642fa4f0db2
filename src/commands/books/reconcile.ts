/** Reconciling the account. The JSON of the report is a promise to scripts. */

import { FINDING_CLASSES, type Finding, nextCommand, sentence } from '../../books/findings.ts';
import type { CardChange } from '../../books/position.ts';
import type { Shown } from '../../cli/context.ts';
import { columnsOf, SHORT_ID } from '../../cli/listing.ts';
import { OFFLINE } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { duration, option, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import { parseTimeWord, quote } from '../../cli/parsing/values.ts';
import { isoTime, MINUTE } from '../../core/durations.ts';
import { CliError, usage } from '../../core/errors.ts';
import { cents, dollars, plainAmount, toCents, toUsd, type Usd } from '../../core/money.ts';
import { capital } from '../../core/row-words.ts';
import type { Reconciliation } from '../../mirror/reconcile.ts';
import { type Block, copiedLine, lineBlock, pairsBlock, tableBlock } from '../../terminal/view.ts';
import { leftOutText } from '../tx/summary.ts';

const CUT = {
  cut: tells.text('Id of the checkpoint.'),
  at: tells.time('Its instant.'),
} as const;

const WALLET = {
  opening: tells.usd('Before, USD.'),
  deposits: tells.usd('Deposited, USD.'),
  created: tells.usd('To new cards of own rows, USD.'),
  funded: tells.usd('To cards by own rows, USD.'),
  withdrawn: tells.usd('From cards by own rows, USD.'),
  returned: tells.usd('Back from terminated cards, USD.'),
  other: tells.usd('By others, or before the books begin at a first checkpoint, USD; negative when it left.'),
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
  other: tells.usd('By others, or where the books begin at a first checkpoint, USD.'),
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

export const reconcileAccount = command({
  path: 'books reconcile',
  summary: 'Prove that the money of the account adds up, to the cent',
  answers: {
    one: {
      from: orNull(tells.object(CUT, 'The checkpoint it is compared with; null for the first one.')),
      to: tells.object(
        { ...CUT, exact: tells.yes('Everything is explained for good.') },
        'The checkpoint that was made.',
      ),
      verdict: tells.word('What came of it.', ['baseline', 'balanced', 'provisional', 'unexplained']),
      residual: tells.usd('Sum of what is wrong, USD, without signs.'),
      requests: tells.count('Requests that were sent.'),
      cards_in_all: tells.count('Cards that were compared.'),
      left_out: tells.object(
        { records: tells.count('How many.'), currencies: tells.texts('Their currencies.') },
        'Records since the earlier checkpoint in another currency than USD: no sum has them.',
      ),
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
    'Brings the mirror up to date, then compares wallet, balances, records and own rows with the last exact checkpoint. The first run is the baseline. Nothing is changed at the service; the checkpoint and the report are kept in the mirror.',
    'A record in another currency than USD counts as nothing, and left_out says how many there are: nobody tells the rate.',
    'A partial reversal leaves no trace in any list. What open holds explain is provisional until their authorizations close, and is judged again from the last exact checkpoint.',
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
    since: option(
      takes.text('A checkpoint, or a time: the last checkpoint before it. The last exact one when left out.'),
    ),
    card: option(takes.text('Show this card alone.', { names: 'card' })),
    soleOperator: option(takes.flag('Nobody else may move money here.')),
    all: option(takes.flag('Show cards that did not move, too.')),
    offline: OFFLINE,
    waitTimeout: duration('How long to wait for an account that moves; 2m when left out.'),
  },
  examples: {
    'Since the last exact checkpoint': 'books reconcile',
    'In CI, where nobody else may spend': 'books reconcile --sole-operator',
    'The verdict for a script': 'books reconcile --jq .verdict',
  },
  async run(ctx, { since, card, soleOperator, all = false, offline, waitTimeout: patienceMs = 2 * MINUTE }) {
    const base = since === undefined || since.startsWith('cut_') ? since : timeOf(since, ctx.api.serviceNow());
    const mirror = await ctx.api.mirror();
    const report = (done: Reconciliation) => JSON.stringify(reportOf(done, { all: false }));
    const asked = { from: base, soleOperator, offline, patienceMs, report };
    const made = await mirror.reconcile(asked).finally(() => ctx.ui.progress.clear());
    const done = reportOf(made, { all: all || card !== undefined });
    if (done.left_out.records > 0) ctx.ui.notice(leftOutText(done.left_out.records));
    return card === undefined ? done : ofCard(done, card);
  },
  show: shownReport,
});

/** ms UTC. */
function timeOf(typed: string, now: number): number {
  const time = parseTimeWord(typed, now);
  if (time !== undefined) return Date.parse(time);
  throw usage(`--since ${quote(typed)} is neither a checkpoint such as cut_1a2b3c nor a time such as 2026-11-01 or 7d`);
}

type Report = ReturnType<typeof reportOf>;

const usd = (amount: number) => toUsd(cents(amount));

/** `all`: cards that did not move, too. */
export function reportOf(done: Reconciliation, { all }: { readonly all: boolean }) {
  const named = new Set(done.findings.flatMap(each => (each.candidates.length === 1 ? each.candidates : [])));
  const cards = new Map(done.cards.map(row => [row.card_id, row]));
  const shown = done.changes
    .map(change => cardAnswer(change, done, cards.get(change.card_id)))
    .filter(card => all || named.has(card.card_id) || hasMoved(card));
  const { wallet } = done;
  return {
    from: done.from === undefined ? null : { cut: done.from.cut_id, at: isoTime(done.from.at_ms) },
    to: { cut: done.checkpoint.cut_id, at: isoTime(done.checkpoint.at_ms), exact: done.checkpoint.exact === 1 },
    verdict: done.verdict,
    residual: usd(done.residual),
    requests: done.requests,
    cards_in_all: done.changes.length,
    left_out: done.leftOut,
    wallet: Object.fromEntries(Object.entries(wallet).map(([name, amount]) => [name, usd(amount)])) as Record<
      keyof typeof wallet,
      Usd
    >,
    cards: shown,
    findings: done.findings.map(findingAnswer),
  };
}

/** One card alone, and what was found about it or about no card. */
function ofCard({ cards, findings, ...report }: Report, card: string): Report {
  return {
    ...report,
    cards: cards.filter(each => each.card_id === card),
    findings: findings.filter(({ candidates }) => candidates.length === 0 || candidates.includes(card)),
  };
}

/** closing = opening + funded - withdrawn - returned - settled + refunded - holds_change + other + residual */
function cardAnswer(
  change: CardChange,
  { classified, from }: Reconciliation,
  card: { readonly last4: string | null; readonly label: string | null } | undefined,
) {
  const released = classified.released.get(change.card_id) ?? 0;
  // Of a first checkpoint, what own rows do not explain is where the books begin. What a card gave back above what it had by
  // own rows came from others before.
  const unowned = from === undefined ? change.residual : (classified.others.get(change.card_id) ?? 0);
  const other = change.isOver ? Math.max(0, -change.returned) : unowned;
  return {
    card_id: change.card_id,
    last4: card?.last4 ?? null,
    label: card?.label ?? null,
    opening: usd(change.opening),
    funded: usd(change.created + change.funded),
    withdrawn: usd(change.withdrawn),
    settled: usd(change.settled),
    refunded: usd(change.refunded),
    holds_change: usd(change.holds - released),
    returned: usd(Math.max(0, change.returned)),
    other: usd(other),
    residual: usd(change.isOver ? 0 : change.residual - other - released),
    closing: usd(change.closing),
  };
}

function findingAnswer(found: Finding) {
  return {
    class: found.class,
    candidates: found.candidates,
    amount: usd(found.cents),
    records: found.records,
    rows: found.rows,
    provisional: found.isProvisional,
    about: found.isAbout,
    wrong: found.isWrong,
    text: sentence(found),
    next: nextCommand(found) ?? null,
  };
}

const CARD_COLUMNS = columnsOf(
  CARD,
  'card_id last4:4 label:3 opening funded:3 withdrawn:5 settled:2 refunded:4 holds_change:4 returned:5 other:3 residual closing',
  {
    card_id: { title: 'CARD', kind: 'id', shortTo: SHORT_ID },
    label: { shrink: true },
    holds_change: 'HOLDS',
    residual: 'DIFF',
  },
);

/** Findings of exit 0 are many in a month; the JSON has all of them. */
const MOST_SHOWN = 20;

/** Candidates whose names stand in the line of a finding. */
const MOST_NAMED = 3;

export function shownReport(report: Report): Shown {
  const { cards } = report;
  // Signed: opening and what moved make the closing.
  const moved = Object.entries(report.wallet).flatMap(([name, amount]): (readonly [string, string])[] => {
    const added = toCents(amount) * (name === 'created' || name === 'funded' ? -1 : 1);
    const isShown = added !== 0 || name === 'opening' || name === 'closing';
    return isShown ? [[capital(name), dollars(cents(added))]] : [];
  });
  return {
    data: report,
    noun: 'card',
    idField: 'card_id',
    quiet: [report.verdict],
    columns: CARD_COLUMNS,
    headline: title(report),
    rows: { columns: CARD_COLUMNS, rows: cards },
    blocks: [
      lineBlock(title(report)),
      ...(cards.length === 0 ? [] : [tableBlock(CARD_COLUMNS, cards)]),
      lineBlock('WALLET'),
      pairsBlock(moved),
      ...findingLines(report),
    ],
    failure: failureOf(report),
  };
}

function title({ from, to, verdict, cards, cards_in_all, requests, residual }: Report): string {
  const span = from === null ? `from the beginning to ${to.at}` : `${from.at} -> ${to.at}`;
  const words = verdict === 'unexplained' ? `unexplained: ${dollars(toCents(residual))}` : verdict;
  const moved = cards.filter(hasMoved).length;
  return `RECONCILE  ${span}   ${words}   ${moved} of ${cards_in_all} cards moved, ${requests} requests`;
}

/** With --all cards stand in the report that nothing happened to. */
function hasMoved({ opening, closing, ...changes }: ReturnType<typeof cardAnswer>): boolean {
  return opening !== closing || Object.values(changes).some(change => typeof change === 'number' && change !== 0);
}

function findingLines(report: Report): Block[] {
  const { findings } = report;
  const ordered = findings.toSorted((a, b) => rank(a) - rank(b));
  const lines = ordered.slice(0, MOST_SHOWN).flatMap((each): Block[] => {
    const where = cardNames(report, each.candidates);
    const records = each.records.length === 0 ? '' : ` (${each.records.slice(0, 3).join(', ')})`;
    const text = `${'x!'[rank(each)] ?? ' '} ${where}${plainAmount(toCents(each.amount))}  ${each.text}${records}`;
    return each.wrong && each.next !== null ? [lineBlock(text), copiedLine(`  ${each.next}`)] : [lineBlock(text)];
  });
  const more = findings.length - MOST_SHOWN;
  return more > 0 ? [...lines, lineBlock(`and ${more} more: --json has all of them`)] : lines;
}

/** What is wrong first, then what others did or may turn out otherwise, then what is only unusual. */
function rank({ wrong, provisional, class: name }: Report['findings'][number]): number {
  return wrong ? 0 : provisional || name.startsWith('other_') || name === 'unknown_row_done' ? 1 : 2;
}

/** The card, or the first ones of all that it may be about. */
function cardNames(report: Report, candidates: readonly string[]): string {
  const names = candidates.slice(0, MOST_NAMED).map(id => {
    const card = report.cards.find(each => each.card_id === id);
    return [card?.last4, card?.label].filter(Boolean).join(' ') || id;
  });
  const more = candidates.length - names.length;
  return names.length === 0 ? '' : `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}  `;
}

/** Exit 15 where something is wrong; the report stands on standard output all the same. */
function failureOf({ findings, verdict, residual, to }: Report): CliError | undefined {
  const wrong = findings.filter(each => each.wrong);
  const [first] = wrong;
  if (verdict !== 'unexplained' || first === undefined) return undefined;
  const amount = dollars(cents(toCents(residual)));
  return new CliError('check_failed', {
    message: `${amount} unexplained at ${to.at}: ${first.text}${wrong.length > 1 ? `, and ${wrong.length - 1} more` : ''}`,
    notes: wrong.slice(1, MOST_SHOWN).map(({ text }) => text),
    ...(first.next !== null && { hint: first.next }),
  });
}
