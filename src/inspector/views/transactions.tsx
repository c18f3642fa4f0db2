/** Purchases and what became of them, challenges, deposits: as lists, and one of each with what may be done to it. */
import type { AdminName } from '../../contract/sandbox/admin.ts';
import { addressOf } from '../address.ts';
import { Act, RowForm } from '../form.tsx';
import { Ask, filter, Rows, type TableOf, type ViewOf } from '../list.tsx';
import { CardLink, Id, inMoney, masked, money, Part, shortTime, show, wordsOf } from '../parts.tsx';
import type { Reply, Told } from '../session.ts';
import type { Input } from '../tables.ts';
import { MOVED } from './cards.tsx';

type OnCard = Pick<Transaction & Challenge, 'amount' | 'card_id' | 'last4' | 'merchant'>;

const CARD = show.field('Card', ({ card_id, last4 }: OnCard) => <CardLink id={card_id} last4={last4} />);
const MERCHANT = show.text('Merchant', ({ merchant }: OnCard) => merchant, 'under');
const FILTERS = [
  filter.search('merchant, last four, amount, id'),
  filter.choice('status', 'Status'),
  filter.byLink('card_id', 'Card'),
];

/** What a purchase or a challenge is known by. */
const titleOf = ({ amount, merchant, last4 }: OnCard) => `${money(amount)} at ${merchant} with ${masked(last4)}`;

type Transaction = Told<'transactions'>;
type Whole = Told<'transactions.show'>;

/** A step that may be taken next. */
type Step = readonly [row: AdminName, label: string];

/** Each behind a line that opens its form. */
const Steps = ({ steps, fixed }: { readonly steps: readonly Step[]; readonly fixed: Input }) => (
  <>
    {steps.map(([row, label]) => (
      <RowForm key={row} row={row} folded={label} fixed={fixed} label={label} />
    ))}
  </>
);

/** What may happen to a purchase next, by its state. */
const NEXT: Readonly<Record<string, readonly Step[]>> = {
  pending: [
    ['simulate.settle', 'Settle'],
    ['simulate.increment', 'Raise'],
    ['simulate.reverse', 'Reverse'],
    ['simulate.expire', 'Let it expire'],
  ],
  settled: [['simulate.refund', 'Refund']],
};

const CHAIN: TableOf<Whole['chain'][number]> = {
  caption: 'What became of the purchase, oldest first',
  fields: [
    show.text('Step', ({ kind }) => wordsOf(kind)),
    ...MOVED,
    show.field('Record', ({ ref, id }) => <Id id={ref} title={`entry ${id}`} />, 'l'),
    show.time('Time', entry => entry.at),
  ],
  empty: 'It moved no money.',
};

/** Of what was declined there are none. */
const sum = (title: string, of: (item: Whole) => number) =>
  show.amount(title, (item: Whole) => (item.type === 'decline' ? undefined : of(item)));

export const TRANSACTIONS: ViewOf<Transaction, Whole> = {
  view: 'transactions',
  title: 'Transactions',
  list: {
    row: 'transactions',
    caption: 'Transactions, newest first',
    opens: ({ id }) => addressOf('transactions', id),
    fields: [
      show.amount('Amount', item => item.amount),
      CARD,
      show.badge('Status', item => item.status),
      MERCHANT,
      show.text(
        'Kind',
        ({ type, decline_reason: why }) => (why === null ? wordsOf(type) : `declined: ${wordsOf(why)}`),
        'under',
      ),
      show.time('Time', item => item.created_at),
    ],
    filters: [...FILTERS, filter.choice('type', 'Kind'), filter.day],
    empty: 'No transaction yet. Your code makes a card, and then you',
    next: ['simulate a purchase', addressOf('simulate')],
  },
  one: {
    row: 'transactions.show',
    by: 'transaction_id',
    name: 'Transaction',
    title: titleOf,
    lead: ({ id }) => <Checks id={id} />,
    facts: [
      sum('Still on hold', item => item.held),
      sum('Settled', item => item.settled),
      sum('Given back', item => item.released),
      sum('Refunded', item => item.refunded),
      show.text('Category (MCC)', item => item.mcc),
      show.text('Country', item => item.merchant_country),
      show.text('Currency', item => item.currency),
      show.id('Belongs to the purchase', item => item.authorization_id),
      show.id('Transaction', item => item.id),
    ],
    rest: ({ id: authorization_id, type, status, chain }) => (
      <Part title="What became of it">
        <Rows list={CHAIN} items={chain} />
        {type === 'authorization' && <Steps steps={NEXT[status] ?? []} fixed={{ authorization_id }} />}
      </Part>
    ),
  },
};

// The checks of one purchase in their order, each with the two values that it compared.

type Why = Reply<'transactions.why'>;

const RESULTS: Readonly<Record<string, string>> = { holds: 'passed', fails: 'failed', not_asked: 'not reached' };

const against = (left: string, right?: string | null) =>
  inMoney(`${left} against ${right ?? ''}`)
    .replaceAll('_', ' ')
    .replace(/\d{4}-\S+Z/g, shortTime);

const CHECKS: TableOf<Why['checks'][number]> = {
  caption: 'Checks in the order in which they are made',
  fields: [
    show.text('Declines for', each => wordsOf(each.check)),
    show.badge('Result', each => RESULTS[each.result]),
    show.text('Compared', ({ left, right }) => left && against(left, right)),
  ],
  empty: 'No check was made.',
};

const Checks = ({ id: transaction_id }: { readonly id: string }) => (
  <Ask row="transactions.why" input={{ transaction_id }}>
    {why => (
      <Part title={why.outcome === 'declined' ? 'Why it was declined' : 'Why it was let through'}>
        <p class={why.outcome === 'declined' ? 'problem' : ''}>{inWords(why)}</p>
        <details>
          <summary>{`All ${why.checks.length} checks`}</summary>
          <Rows list={CHECKS} items={why.checks} />
        </details>
      </Part>
    )}
  </Ask>
);

function inWords({ outcome, decline_reason: reason, checks }: Why): string {
  if (outcome === 'approved') return 'Approved: every check held.';
  if (outcome === 'posted') return 'Posted without asking: settlements and refunds are never declined.';
  const failed = checks.find(({ result }) => result === 'fails');
  const why = wordsOf(reason ?? '');
  if (failed === undefined) return `Declined: ${why}, forced by the simulation; no check was made.`;
  if (failed.left == null) return `Declined: ${why}. The values it was judged by were not kept.`;
  return `Declined: ${why}: ${against(failed.left, failed.right)}.`;
}

type Challenge = Told<'challenges'>;

const UNANSWERED: readonly Step[] = [
  ['simulate.cancel', 'Cancel as the card holder'],
  ['simulate.challenge-expire', 'Let it expire'],
];

/** Never with its code but behind a step. */
export const CHALLENGES: ViewOf<Challenge> = {
  view: 'challenges',
  title: '3DS challenges',
  list: {
    row: 'challenges',
    caption: '3DS challenges, newest first',
    opens: ({ id }) => addressOf('challenges', id),
    fields: [
      show.amount('Amount', item => item.amount),
      CARD,
      show.badge('Status', item => item.status),
      MERCHANT,
      show.number('Wrong codes', item => item.attempts, 'l'),
      show.time('Opened', item => item.created_at),
      show.time('Ends', item => item.expires_at, 'l'),
    ],
    filters: FILTERS,
    empty: 'No challenge yet. A shop asks for a code:',
    next: ['open one', addressOf('simulate', 'simulate.challenge')],
  },
  one: {
    row: 'challenges',
    by: 'q',
    name: 'Challenge',
    title: titleOf,
    facts: [show.id('Challenge', item => item.id)],
    rest: ({ id: challenge_id, status }) =>
      status === 'pending' ? (
        <Part title="Answer it">
          <RowForm row="challenges.reveal" fixed={{ challenge_id }} label="Show code" isSecret />
          <RowForm row="simulate.answer" fixed={{ challenge_id }} begins={{ answer: 'right' }} label="Answer" />
          <Steps steps={UNANSWERED} fixed={{ challenge_id }} />
        </Part>
      ) : (
        <p class="quiet">It has no code any more.</p>
      ),
  },
};

type Deposit = Told<'deposits'>;

const UNCONFIRMED: readonly Step[] = [
  ['simulate.confirmations', 'Add confirmations'],
  ['simulate.fail', 'Let it fail'],
];

const coins = ({ crypto_amount: amount, currency }: Deposit) => `${amount} ${currency.toUpperCase()}`;
const confirmed = ({ confirmations, required_confirmations: needed }: Deposit) => `${confirmations} of ${needed}`;

export const DEPOSITS: ViewOf<Deposit> = {
  view: 'deposits',
  title: 'Deposits',
  list: {
    row: 'deposits',
    caption: 'Deposits, newest first',
    opens: ({ id }) => addressOf('deposits', id),
    fields: [
      show.amount('Amount', item => item.amount),
      show.badge('Status', item => item.status),
      show.field('In coins', item => <span class="number">{coins(item)}</span>, 'm'),
      show.text('Network', item => item.network, 'l'),
      show.text('Confirmations', confirmed, 'l'),
      show.time('Seen', item => item.created_at),
      show.field(
        'Next step',
        ({ id, status }) =>
          status === 'pending' && (
            <Act key={id} row="simulate.confirm" input={{ deposit_id: id }} label="Confirm" about={id} />
          ),
      ),
    ],
    filters: [filter.search('id, hash'), filter.choice('status', 'Status'), filter.choice('currency', 'Coin')],
    empty: 'No deposit yet. It fills the wallet:',
    next: ['simulate one', addressOf('simulate', 'simulate.deposit')],
  },
  one: {
    row: 'deposits',
    by: 'q',
    name: 'Deposit',
    title: ({ amount, currency }) => `${money(amount)} in ${currency.toUpperCase()}`,
    facts: [
      show.time('Confirmed', item => item.confirmed_at),
      show.id('Hash on the chain', item => item.tx_hash),
      show.id('Deposit', item => item.id),
    ],
    rest: ({ id: deposit_id, status }) => status === 'pending' && <Steps steps={UNCONFIRMED} fixed={{ deposit_id }} />,
  },
};
