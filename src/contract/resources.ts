/** Interface 2.2 to 2.7 and the resources it leaves unshown: BIN, wallet, address, deposit, challenge, transaction, webhook. */
import { assumed, stated } from './basis.ts';
import { CARD_ID, DETAILS, NETWORK } from './card.ts';
import { choice, flag, integer, list, money, must, nullable, number, type Shape, text, time } from './field.ts';
import { LIMITS } from './limits.ts';

/** The one currency of the interface (sections 2 and 2.3). */
export const ACCOUNT_CURRENCY = 'USD';

/** Whether something names this currency, in upper or lower case, or none: amounts are dollars. */
export function isInDollars({ currency }: { readonly currency?: string | null | undefined }): boolean {
  return currency == null || currency === '' || currency.toUpperCase() === ACCOUNT_CURRENCY;
}

const tag = text({ doc: 'A merchant or use-case word.', basis: stated('2.2', 'A-133') });

export const BIN = {
  id: must(text({ doc: 'BIN identifier.', basis: stated('2.2', 'A-130'), names: 'bin' })),
  network: { ...NETWORK, basis: stated('2.2', 'A-131') },
  type: choice(['prepaid', 'debit', 'credit'], { doc: 'BIN type.', basis: stated('2.2', 'A-132') }),
  '3ds': flag({ doc: '3DS support.', basis: stated('2.2') }),
  apple_pay: flag({ doc: 'Apple Pay support.', basis: stated('2.2') }),
  google_pay: flag({ doc: 'Google Pay support.', basis: stated('2.2') }),
  max_transaction: money({ doc: 'Maximum single transaction, USD.', basis: stated('2.2') }),
  max_monthly: money({ doc: 'Maximum monthly volume, USD.', basis: stated('2.2') }),
  acceptance_rate: number({ doc: 'Acceptance rate, percent.', basis: stated('2.2'), min: 0, max: 100 }),
  best_for: list(tag, { doc: 'Suggested merchant or use-case tags.', basis: tag.basis }),
} as const;

export const WALLET = {
  balance: must(money({ doc: 'Spendable balance, USD.', basis: stated('2.3') })),
  currency: text({ doc: 'Always USD.', basis: stated('2.3'), only: ACCOUNT_CURRENCY }),
  pending_deposits: money({ doc: 'Deposits seen but not confirmed, USD.', basis: stated('2.3', 'A-60') }),
  total_deposited: money({ doc: 'Deposited in all, USD.', basis: stated('2.3') }),
  total_spent: money({ doc: 'Settled minus refunded in all, USD.', basis: stated('2.3', 'A-61') }),
  cards_active: integer({ doc: 'Cards with status active.', basis: stated('2.3', 'A-62') }),
  cards_total_balance: money({
    doc: 'Balance of all cards that are not terminated, USD.',
    basis: stated('2.3', 'A-63'),
  }),
} as const;

export const CURRENCIES = ['btc', 'eth', 'sol', 'usdt'] as const;
export const CURRENCY = choice(CURRENCIES, { doc: 'Cryptocurrency; all by default.', basis: stated('4') });

export const ADDRESS = {
  currency: must(choice(CURRENCIES, { doc: 'Cryptocurrency.', basis: stated('4', 'A-64') })),
  network: text({ doc: 'Chain it is received on.', basis: assumed('A-64'), also: ['chain'] }),
  address: must(text({ doc: 'Address to send to.', basis: assumed('A-64') })),
  memo: nullable(text({ doc: 'Memo or tag that must go with it.', basis: assumed('A-64'), also: ['tag'] })),
  min_confirmations: integer({ doc: 'Confirmations until the deposit counts.', basis: assumed('A-64') }),
} as const;

export const DEPOSIT_STATUSES = ['pending', 'confirmed', 'failed'] as const;

/** Appears in events only; no operation lists deposits. */
export const DEPOSIT = {
  id: must(text({ doc: 'Deposit identifier.', basis: assumed('A-65') })),
  currency: choice(CURRENCIES, { doc: 'Cryptocurrency.', basis: assumed('A-65') }),
  network: text({ doc: 'Chain.', basis: assumed('A-65'), also: ['chain'] }),
  crypto_amount: text({ doc: 'Amount in the cryptocurrency, as text.', basis: assumed('A-68') }),
  amount: must(
    money({ doc: 'Value, USD, fixed when it was seen.', basis: assumed('A-67'), also: ['amount_usd', 'usd_amount'] }),
  ),
  status: must(choice(DEPOSIT_STATUSES, { doc: 'State.', basis: assumed('A-66') })),
  tx_hash: text({ doc: 'Hash of the chain transaction.', basis: assumed('A-65'), also: ['txid', 'hash'] }),
  confirmations: integer({ doc: 'Confirmations so far.', basis: assumed('A-65') }),
  required_confirmations: integer({ doc: 'Confirmations needed.', basis: assumed('A-65') }),
  created_at: time({ doc: 'When it was seen.', basis: assumed('A-65') }),
  confirmed_at: nullable(time({ doc: 'When it was confirmed.', basis: assumed('A-65') })),
} as const;

export const CHALLENGE = {
  id: must(text({ doc: 'Challenge identifier.', basis: stated('2.4') })),
  card_id: { ...CARD_ID, doc: 'Card the challenge belongs to.', basis: stated('2.4') },
  merchant: text({ doc: 'Merchant name.', basis: stated('2.4') }),
  amount: money({ doc: 'Amount, USD.', basis: stated('2.4') }),
  otp: must(text({ doc: 'One-time code.', basis: stated('2.4', 'A-52'), secret: true })),
  status: choice(['pending'], { doc: 'pending is the only value that occurs.', basis: stated('2.4', 'A-50') }),
  expires_at: time({ doc: 'When the code stops working.', basis: stated('2.4', 'A-51') }),
} as const;

/** Words of other services for a challenge that is over, in lower case; such a record is no open one. */
export const FINISHED_CHALLENGE: ReadonlySet<string> = new Set(
  (
    'approved success succeeded authenticated verified completed failed declined rejected expired timed_out ' +
    'cancelled canceled'
  ).split(' '),
);

export const TRANSACTION_TYPES = ['authorization', 'settlement', 'refund', 'decline'] as const;
export const TRANSACTION_STATUSES = ['pending', 'settled', 'reversed', 'expired', 'completed', 'declined'] as const;
export const DECLINE_REASONS = [
  'card_frozen',
  'card_terminated',
  'card_expired',
  'category_not_allowed',
  'transaction_limit_exceeded',
  'spending_limit_exceeded',
  'insufficient_funds',
  'three_ds_failed',
  'invalid_cvv',
  'invalid_expiry',
  'suspected_fraud',
  'do_not_honor',
] as const;

export const TRANSACTION = {
  id: must(text({ doc: 'Transaction identifier.', basis: assumed('A-40') })),
  card_id: text({ doc: 'Card it belongs to.', basis: assumed('A-40'), names: 'card', also: ['card.id'] }),
  type: must(choice(TRANSACTION_TYPES, { doc: 'Kind of record.', basis: stated('2.5') })),
  status: choice(TRANSACTION_STATUSES, { doc: 'State of it.', basis: assumed('A-44') }),
  amount: must(
    money({ doc: 'Amount, USD, positive; the type gives the direction.', basis: assumed('A-41'), unsigned: true }),
  ),
  currency: text({
    doc: 'USD; sums leave out records in another currency.',
    basis: assumed('A-40'),
    usually: ACCOUNT_CURRENCY,
  }),
  merchant: text({
    doc: 'Merchant name.',
    basis: assumed('A-42'),
    also: ['merchant.name', 'merchant_name', 'descriptor'],
  }),
  mcc: text({
    doc: 'Merchant category code, four digits.',
    basis: assumed('A-43'),
    also: ['merchant.mcc', 'merchant.category_code', 'category_code', 'merchant_category_code'],
  }),
  merchant_country: text({ doc: 'Country of the merchant.', basis: assumed('A-42'), also: ['merchant.country'] }),
  authorization_id: nullable(text({ doc: 'Authorization it settles or refunds.', basis: assumed('A-40') })),
  decline_reason: nullable(
    choice(DECLINE_REASONS, {
      doc: 'Why it was declined.',
      basis: assumed('A-47'),
      also: ['reason', 'decline_code', 'response_code', 'result'],
    }),
  ),
  created_at: time({ doc: 'When it happened.', basis: assumed('A-40') }),
} as const;

const EVENT_NAME = text({ doc: 'An event name, or * for all.', basis: stated('4.5'), names: 'event' });

export const WEBHOOK_ID = must(text({ doc: 'Subscription identifier.', basis: assumed('A-70'), names: 'webhook' }));

export const WEBHOOK = {
  id: WEBHOOK_ID,
  url: must(text({ doc: 'Endpoint that receives events.', basis: stated('2.6', 'A-70') })),
  events: list(EVENT_NAME, { doc: 'Events it receives.', basis: stated('2.6', 'A-70') }),
  status: choice(['active', 'disabled'], { doc: 'Whether events are sent.', basis: assumed('A-70'), also: ['state'] }),
  created_at: time({ doc: 'When it was made.', basis: assumed('A-70') }),
  updated_at: time({ doc: 'When it was changed.', basis: assumed('A-70') }),
} as const;

/** The create answer alone carries the signing secret. */
export const WEBHOOK_WITH_SECRET = {
  ...WEBHOOK,
  secret: {
    ...text({ doc: 'Signing secret; shown in this answer only.', basis: stated('4.5', 'A-72'), secret: true }),
  },
} as const;

/** Body of create webhook, interface 4.5. */
export const CREATE_WEBHOOK = {
  url: must(text({ doc: 'HTTPS endpoint that receives events.', basis: stated('4.5', 'A-71') })),
  events: must(list(EVENT_NAME, { doc: 'Events to receive; * for all.', basis: stated('4.5') })),
  secret: text({
    doc: 'Signing secret; generated when left out.',
    basis: LIMITS.webhookSecret.basis,
    secret: true,
    minLength: LIMITS.webhookSecret.min,
    printable: true,
  }),
} as const;

export const UPDATE_WEBHOOK = {
  url: text({ doc: 'New endpoint.', basis: assumed('A-17') }),
  events: list(EVENT_NAME, { doc: 'New events; * for all.', basis: assumed('A-17') }),
  status: choice(['active', 'disabled'], { doc: 'Switch deliveries on or off.', basis: assumed('A-17') }),
} as const;

/** Interface 2.7. */
export const ERROR_BODY = {
  error: must(text({ doc: 'Error identifier.', basis: stated('2.7') })),
  message: must(text({ doc: 'Human-readable text.', basis: stated('2.7') })),
  code: must(integer({ doc: 'The HTTP status.', basis: stated('2.7', 'A-100') })),
  request_id: must(text({ doc: 'Identifier of the request, for support.', basis: stated('2.7') })),
} as const;

/** The `meta` object of paged lists. */
export const PAGE_META = {
  page: integer({ doc: 'Number of this page.', basis: assumed('A-21'), also: ['current_page'] }),
  per_page: integer({ doc: 'Rows a page.', basis: assumed('A-21') }),
  total: integer({
    doc: 'Rows in all.',
    basis: assumed('A-21'),
    also: ['total_count', 'total_entries', 'totalItemCount'],
  }),
  total_pages: integer({ doc: 'Pages in all.', basis: assumed('A-21'), also: ['last_page', 'pages', 'pageCount'] }),
} as const;

/** Every name, on the wire and of ours, of a field that holds a secret. Lower case. */
export const SECRET_NAMES: ReadonlySet<string> = new Set(
  [DETAILS, CHALLENGE, WEBHOOK_WITH_SECRET].flatMap(secretNames).concat('password', 'authorization', 'api_key'),
);

function secretNames(shape: Shape): string[] {
  const fields = Object.entries(shape).filter(([, field]) => field.secret);
  return fields.flatMap(([name, field]) =>
    [name, field.wire ?? name, ...(field.also ?? [])].map(each => (each.split('.').at(-1) ?? each).toLowerCase()),
  );
}
