/** What the sandbox holds, looked at without a trace: its money, its cards, one card with its accounts of the ledger. */
import { CARD, CARD_ID, CARD_STATUSES } from '../card.ts';
import { choice, flag, integer, list, money, must, nullable, object, text, time } from '../field.ts';
import { one, operation, pageOf } from '../operation.ts';
import { described, ours, traceless } from './basis.ts';

const count = (doc: string) => must(integer(described(doc)));
const usd = (doc: string) => must(money(described(`${doc} USD.`)));

/** Where the money is: what came in and was not spent is in the wallet, on cards or on hold (I10). */
export const OVERVIEW = {
  now: must(time(described('Clock of the sandbox.'))),
  data_set: must(text(described('Data set it was seeded with.'))),
  deposited: usd('What came from outside.'),
  wallet: usd('In the wallet.'),
  on_cards: usd('On cards, open holds taken off.'),
  on_hold: usd('Held by authorizations.'),
  spent: usd('Settled, refunds taken off.'),
  cards_active: count('Active cards.'),
  cards_frozen: count('Frozen cards.'),
  cards_terminated: count('Terminated cards.'),
  transactions: count('Transaction records.'),
  open_holds: count('Authorizations that still hold money.'),
  open_challenges: count('3DS challenges that wait for a code.'),
  pending_deposits: count('Deposits that are not confirmed.'),
  webhooks: count('Subscriptions.'),
  failed_deliveries: count('Deliveries that were given up.'),
  events: count('Events recorded.'),
  faults: count('Fault rules that can still happen.'),
  timers: count('What happens by itself later: timers and queued deliveries.'),
  next_timer: nullable(
    object(
      {
        due_at: must(time(described('When it is due, on the clock of the sandbox.'))),
        kind: must(text(described('What happens.'))),
        ref: must(text(described('What it happens to.'))),
      },
      described('What happens by itself next; null where nothing does.'),
    ),
  ),
} as const;

const hold = usd('Held by authorizations.');

export const FOUND_CARD = {
  id: CARD.id,
  label: CARD.label,
  last4: CARD.last4,
  network: CARD.network,
  status: CARD.status,
  balance: CARD.balance,
  hold,
  bin_id: CARD.bin_id,
  created_at: CARD.created_at,
} as const;

const CARD_ENTRY = {
  id: must(integer(described('Number of the entry.'))),
  at: must(time(described('When, on the clock of the sandbox.'))),
  kind: must(text(described('What it was.'))),
  ref: must(text(described('What it is about.'))),
  card: must(money(described('USD that came to the account of the card; below 0 for what left it.'))),
  hold: must(money(described('USD that came to the account of its hold; below 0 for what left it.'))),
  card_after: must(money(described('Account of the card after it, USD.'))),
  hold_after: must(money(described('Account of its hold after it, USD.'))),
} as const;

/** One card, its limits and what is used of them, and its two accounts of the ledger. */
export const WHOLE_CARD = {
  ...CARD,
  hold,
  used_this_month: usd('What its authorizations of this month take of the monthly limit (A-161).'),
  max_transaction: usd('Most that one purchase may be, by its BIN.'),
  max_monthly: usd('Most that a month may be, by its BIN.'),
  agrees: must(flag(described('Balance and hold are the sums of its entries (I2).'))),
  entries_total: must(integer(described('Entries of the ledger that touch it.'))),
  entries: must(list(object(CARD_ENTRY, described('One of them.')), described('The newest 50 of them, newest first.'))),
} as const;

const page = integer({ ...described('Page, from 1.'), min: 1, defaults: 1 });
const per_page = integer({ ...described('Rows a page.'), min: 1, max: 1000, defaults: 50 });

export const HOLDING_OPERATIONS = {
  overview: operation({
    ...traceless,
    summary: 'Show where the money of the sandbox is, and what is open',
    path: '/overview',
    returns: one(OVERVIEW, ours),
  }),
  cards: operation({
    ...traceless,
    summary: 'List cards, newest first, or search them',
    path: '/cards',
    query: {
      q: text({
        ...described('Part of a label, the last four digits, an id, or key=value of its metadata.'),
        maxLength: 200,
      }),
      status: choice(CARD_STATUSES, described('Only those.')),
      bin: text({ ...described('Only cards of this BIN.'), names: 'bin', maxLength: 128 }),
      page,
      per_page,
    },
    returns: pageOf(FOUND_CARD, ours),
  }),
  'cards.show': operation({
    ...traceless,
    summary: 'Show a card with its limits, what is used of them, and its entries in the ledger',
    path: '/cards/{card_id}',
    params: { card_id: CARD_ID },
    returns: one(WHOLE_CARD, ours),
  }),
} as const;
