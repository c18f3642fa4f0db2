/** The views in the file of a mirror. They are a promise, and their columns are the rows of `books/rows.ts`. */
import type {
  CardObservationRow,
  CardRow,
  CheckpointRow,
  ExportRow,
  MoveRow,
  ReportRow,
  TxChangeRow,
  TxRow,
  WalletRow,
} from '../books/rows.ts';
import type { ChallengeValues } from './records.ts';

export interface ViewColumn {
  readonly name: string;
  readonly type: 'text' | 'integer';
  readonly says: string;
}

export interface View {
  readonly name: string;
  readonly says: string;
  readonly columns: readonly ViewColumn[];
  readonly select: string;
}

type Told = Omit<ViewColumn, 'name'>;

const text = (says: string): Told => ({ type: 'text', says });
const whole = (says: string): Told => ({ type: 'integer', says });
const at = (says: string): Told => whole(`${says}, ms UTC.`);
const cents = (says: string): Told => whole(`${says}, cents.`);

/** A view whose columns are those of a row, each of them told. Without a select they are columns of `from` as they are. */
function view<Row>(
  name: string,
  says: string,
  columnTexts: Readonly<Record<keyof Row & string, Told>>,
  { from = '', select }: { readonly from?: string; readonly select?: string },
): View {
  const columns = Object.entries<Told>(columnTexts).map(([column, rest]) => ({ name: column, ...rest }));
  const names = columns.map(column => column.name).join(', ');
  return { name, says, columns, select: select ?? `select ${names} from ${from}` };
}

const CARDS = view<CardRow>(
  'cards',
  'Every card ever seen.',
  {
    card_id: text('Card.'),
    bin_id: text('BIN it was issued from.'),
    network: text('Card network.'),
    last4: text('Last four digits.'),
    label: text('Label.'),
    status: text('active, frozen or terminated.'),
    balance_cents: cents('Balance when it was last read'),
    spending_limit_cents: cents('Monthly limit'),
    auto_freeze_cents: cents('Balance below which it freezes'),
    allowed_categories: text('JSON list.'),
    metadata: text('JSON object.'),
    created_ms: at('When it was made'),
    expires_ms: at('When it expires'),
    first_seen: at('When a sync first saw it'),
    gone_at: at('When the service no longer knew it'),
  },
  { from: 'card' },
);

const TX = view<TxRow>(
  'tx',
  'Every transaction record, in its newest form.',
  {
    tx_id: text('Transaction record.'),
    card_id: text('Its card.'),
    type: text('authorization, settlement, refund or decline.'),
    status: text('State of it.'),
    cents: cents('Amount, never negative; the type gives the direction'),
    currency: text('Currency.'),
    merchant: text('Merchant name.'),
    mcc: text('Merchant category code.'),
    merchant_country: text('Country of the merchant.'),
    authorization_id: text('Authorization it settles or refunds.'),
    decline_reason: text('Why it was declined.'),
    at_ms: at('When it happened'),
    created_at: text('The same as the service wrote it.'),
    first_seen: at('When a sync first saw it'),
    gone_at: at('When two complete readings no longer had it'),
  },
  {
    select: `select r.tx_id, r.card_id, r.type, r.status, r.cents, r.currency, m.name as merchant, r.mcc,
      r.merchant_country, r.authorization_id, r.decline_reason, r.at_ms,
      coalesce(r.created_at, strftime('%Y-%m-%dT%H:%M:%SZ', r.at_ms / 1000, 'unixepoch')) as created_at,
      r.first_seen, r.gone_at
      from record r left join merchant m on m.id = r.merchant`,
  },
);

const TX_CHANGES = view<TxChangeRow>(
  'tx_changes',
  'A field of a known record that a later reading showed otherwise.',
  {
    tx_id: text('Transaction record.'),
    field: text('Column of tx.'),
    old: text('Before.'),
    new: text('After.'),
    seen: at('When it was seen'),
  },
  { from: 'record_change' },
);

const MERCHANTS = view<{ name: string }>(
  'merchants',
  'Every merchant name once.',
  { name: text('Name.') },
  { from: 'merchant' },
);

const CHALLENGES = view<ChallengeValues & { readonly first_seen: number; readonly last_seen: number }>(
  'challenges',
  'Open 3DS challenges as they were seen; never a code.',
  {
    challenge_id: text('Challenge.'),
    card_id: text('Its card.'),
    merchant: text('Merchant name.'),
    cents: cents('Amount'),
    status: text('State of it.'),
    expires_ms: at('When its code stops working'),
    first_seen: at('First seen'),
    last_seen: at('Last seen'),
  },
  { from: 'challenge' },
);

const WALLET_OBSERVATIONS = view<WalletRow>(
  'wallet_observations',
  'The wallet, whenever it had changed.',
  {
    at_ms: at('When it was read'),
    balance_cents: cents('Balance'),
    pending_deposits_cents: cents('Deposits not yet confirmed'),
    total_deposited_cents: cents('Deposited in all'),
    total_spent_cents: cents('Spent in all'),
    cards_active: whole('Active cards.'),
    cards_total_balance_cents: cents('Balance of all cards'),
  },
  { from: 'wallet_state' },
);

const CARD_OBSERVATIONS = view<CardObservationRow>(
  'card_observations',
  'A card, whenever its status or balance had changed.',
  { card_id: text('Card.'), at_ms: at('When it was read'), status: text('State.'), balance_cents: cents('Balance') },
  { from: 'card_state' },
);

const MOVES = view<MoveRow>(
  'moves',
  'Rows of the journal of this machine that moved money between wallet and card, or ended a card.',
  {
    op: text('Operation.'),
    row: whole('Its row, from 1.'),
    operation: text('What was done.'),
    card_id: text('Card; null for a create whose card is not known.'),
    cents: cents('What the row asked for'),
    outcome: text('done, refused or unknown.'),
    at_ms: at('When it was sent'),
  },
  {
    // The service says when a card was made; the clock of this machine may be another.
    select: `select m.op, m.row, m.operation, m.card_id, m.cents, m.outcome,
      case when m.operation = 'cards.create' then coalesce(c.created_ms, m.at_ms) else m.at_ms end as at_ms
      from move m left join card c on c.card_id = m.card_id`,
  },
);

const CHECKPOINTS = view<CheckpointRow>(
  'cuts',
  'Wallet, balances and records of one instant.',
  {
    cut_id: text('Cut.'),
    at_ms: at('Its instant'),
    exact: whole('1 when everything was explained.'),
    baseline: whole('1 for the first one.'),
    rules: text('JSON: how this service counts.'),
    wallet_cents: cents('Balance of the wallet'),
    total_deposited_cents: cents('Deposited in all'),
    total_spent_cents: cents('Spent in all'),
    carried_cents: cents('Carried to the next checkpoint'),
    counted_rows: text('JSON: own rows whose outcome the sums showed, and their cards.'),
  },
  { from: 'checkpoint' },
);

const REPORTS = view<ReportRow>(
  'reports',
  'Reconciliations as they were printed.',
  {
    report_id: text('Report.'),
    at_ms: at('When'),
    from_cut: text('From this checkpoint.'),
    to_cut: text('To this checkpoint.'),
    verdict: text('The outcome.'),
    residual_cents: cents('Not explained'),
    report: text('The JSON that was printed.'),
  },
  { from: 'report' },
);

const EXPORTS = view<ExportRow>(
  'exports',
  'What was written for a period.',
  {
    period: text('Period.'),
    format: text('Format.'),
    account: text('Account.'),
    lines: whole('Lines.'),
    sha256: text('Digest of the file.'),
    at_ms: at('When'),
  },
  { from: 'export' },
);

/** What `mirror query` reads, and what the books are given. */
export const VIEWS: readonly View[] = [
  CARDS,
  TX,
  TX_CHANGES,
  MERCHANTS,
  CHALLENGES,
  WALLET_OBSERVATIONS,
  CARD_OBSERVATIONS,
  MOVES,
  CHECKPOINTS,
  REPORTS,
  EXPORTS,
];
