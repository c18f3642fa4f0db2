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

const tag = text('A merchant or use-case word.', stated('2.2', 'A-133'));

export const BIN_TYPES = ['prepaid', 'debit', 'credit'] as const;

export const BIN = {
  id: must(text('BIN identifier.', stated('2.2', 'A-130'), { names: 'bin' })),
  network: { ...NETWORK, basis: stated('2.2', 'A-131') },
  type: choice(BIN_TYPES, 'BIN type.', stated('2.2', 'A-132')),
  '3ds': flag('3DS support.', stated('2.2')),
  apple_pay: flag('Apple Pay support.', stated('2.2')),
  google_pay: flag('Google Pay support.', stated('2.2')),
  max_transaction: money('Maximum single transaction, USD.', stated('2.2')),
  max_monthly: money('Maximum monthly volume, USD.', stated('2.2')),
  acceptance_rate: number('Acceptance rate, percent.', stated('2.2'), { min: 0, max: 100 }),
  best_for: list(tag, 'Suggested merchant or use-case tags.', tag.basis),
} as const;

export const WALLET = {
  balance: must(money('Spendable balance, USD.', stated('2.3'))),
  currency: text('Always USD.', stated('2.3'), { only: ACCOUNT_CURRENCY }),
  pending_deposits: money('Deposits seen but not confirmed, USD.', stated('2.3', 'A-60')),
  total_deposited: money('Deposited in all, USD.', stated('2.3')),
  total_spent: money('Settled minus refunded in all, USD.', stated('2.3', 'A-61')),
  cards_active: integer('Cards with status active.', stated('2.3', 'A-62')),
  cards_total_balance: money('Balance of all cards that are not terminated, USD.', stated('2.3', 'A-63')),
} as const;

export const CURRENCIES = ['btc', 'eth', 'sol', 'usdt'] as const;
export const CURRENCY = choice(CURRENCIES, 'Cryptocurrency; all by default.', stated('4'));

export const ADDRESS = {
  currency: must(choice(CURRENCIES, 'Cryptocurrency.', stated('4', 'A-64'))),
  network: text('Chain it is received on.', assumed('A-64'), { also: ['chain'] }),
  address: must(text('Address to send to.', assumed('A-64'))),
  memo: nullable(text('Memo or tag that must go with it.', assumed('A-64'), { also: ['tag'] })),
  min_confirmations: integer('Confirmations until the deposit counts.', assumed('A-64')),
} as const;

export const DEPOSIT_STATUSES = ['pending', 'confirmed', 'failed'] as const;

/** Appears in events only; no operation lists deposits. */
export const DEPOSIT = {
  id: must(text('Deposit identifier.', assumed('A-65'))),
  currency: choice(CURRENCIES, 'Cryptocurrency.', assumed('A-65')),
  network: text('Chain.', assumed('A-65'), { also: ['chain'] }),
  crypto_amount: text('Amount in the cryptocurrency, as text.', assumed('A-68')),
  amount: must(money('Value, USD, fixed when it was seen.', assumed('A-67'), { also: ['amount_usd', 'usd_amount'] })),
  status: must(choice(DEPOSIT_STATUSES, 'State.', assumed('A-66'))),
  tx_hash: text('Hash of the chain transaction.', assumed('A-65'), { also: ['txid', 'hash'] }),
  confirmations: integer('Confirmations so far.', assumed('A-65')),
  required_confirmations: integer('Confirmations needed.', assumed('A-65')),
  created_at: time('When it was seen.', assumed('A-65')),
  confirmed_at: nullable(time('When it was confirmed.', assumed('A-65'))),
} as const;

export const CHALLENGE = {
  id: must(text('Challenge identifier.', stated('2.4'))),
  card_id: { ...CARD_ID, doc: 'Card the challenge belongs to.', basis: stated('2.4') },
  merchant: text('Merchant name.', stated('2.4')),
  amount: money('Amount, USD.', stated('2.4')),
  otp: must(text('One-time code.', stated('2.4', 'A-52'), { secret: true })),
  status: choice(['pending'], 'pending is the only value that occurs.', stated('2.4', 'A-50')),
  expires_at: time('When the code stops working.', stated('2.4', 'A-51')),
} as const;

/** Words of other services for a challenge that is over, in lower case; such a record is no open one. */
export const FINISHED_CHALLENGE: ReadonlySet<string> = new Set(
  (
    'approved success succeeded authenticated verified completed failed declined rejected expired timed_out ' +
    'cancelled canceled used consumed'
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
  id: must(text('Transaction identifier.', assumed('A-40'))),
  card_id: text('Card it belongs to.', assumed('A-40'), { names: 'card', also: ['card.id'] }),
  type: must(choice(TRANSACTION_TYPES, 'Kind of record.', stated('2.5'))),
  status: choice(TRANSACTION_STATUSES, 'State of it.', assumed('A-44')),
  amount: must(money('Amount, USD, positive; the type gives the direction.', assumed('A-41'), { unsigned: true })),
  currency: text('USD; sums leave out records in another currency.', assumed('A-40'), { usually: ACCOUNT_CURRENCY }),
  merchant: text('Merchant name.', assumed('A-42'), { also: ['merchant.name', 'merchant_name', 'descriptor'] }),
  mcc: text('Merchant category code, four digits.', assumed('A-43'), {
    also: ['merchant.mcc', 'merchant.category_code', 'category_code', 'merchant_category_code'],
  }),
  merchant_country: text('Country of the merchant.', assumed('A-42'), { also: ['merchant.country'] }),
  authorization_id: nullable(text('Authorization it settles or refunds.', assumed('A-40'))),
  decline_reason: nullable(
    choice(DECLINE_REASONS, 'Why it was declined.', assumed('A-47'), {
      also: ['reason', 'decline_code', 'response_code', 'result'],
    }),
  ),
  created_at: time('When it happened.', assumed('A-40')),
} as const;

const EVENT_NAME = text('An event name, or * for all.', stated('4.5'), { names: 'event' });

export const WEBHOOK_ID = must(text('Subscription identifier.', assumed('A-70'), { names: 'webhook' }));

export const WEBHOOK_STATUSES = ['active', 'disabled'] as const;

export const WEBHOOK = {
  id: WEBHOOK_ID,
  url: must(text('Endpoint that receives events.', stated('2.6', 'A-70'))),
  events: list(EVENT_NAME, 'Events it receives.', stated('2.6', 'A-70')),
  status: choice(WEBHOOK_STATUSES, 'Whether events are sent.', assumed('A-70'), { also: ['state'] }),
  created_at: time('When it was made.', assumed('A-70')),
  updated_at: time('When it was changed.', assumed('A-70')),
} as const;

/** The create answer alone carries the signing secret. */
export const WEBHOOK_WITH_SECRET = {
  ...WEBHOOK,
  secret: text('Signing secret; shown in this answer only.', stated('4.5', 'A-72'), { secret: true }),
} as const;

/** Hosts that are this machine, as they are written in an address. */
export const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** https anywhere; http on this machine, which a sandbox takes. */
const ENDPOINT = {
  form: {
    holds: (address: string) => {
      const { protocol, hostname } = URL.canParse(address) ? new URL(address) : { protocol: '', hostname: '' };
      return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
    },
    says: 'must be an https address',
  },
};

/** Body of create webhook, interface 4.5. */
export const CREATE_WEBHOOK = {
  url: must(text('HTTPS endpoint that receives events.', stated('4.5', 'A-71'), ENDPOINT)),
  events: must(list(EVENT_NAME, 'Events to receive; * for all.', stated('4.5'))),
  secret: text('Signing secret; generated when left out.', LIMITS.webhookSecret.basis, {
    secret: true,
    minLength: LIMITS.webhookSecret.min,
    printable: true,
  }),
} as const;

export const UPDATE_WEBHOOK = {
  url: text('New endpoint.', assumed('A-17'), ENDPOINT),
  events: list(EVENT_NAME, 'New events; * for all.', assumed('A-17')),
  status: choice(WEBHOOK_STATUSES, 'Switch deliveries on or off.', assumed('A-17')),
} as const;

/** Interface 2.7. */
export const ERROR_BODY = {
  error: must(text('Error identifier.', stated('2.7'))),
  message: must(text('Human-readable text.', stated('2.7'))),
  code: must(integer('The HTTP status.', stated('2.7', 'A-100'))),
  request_id: must(text('Identifier of the request, for support.', stated('2.7'))),
} as const;

/** The `meta` object of paged lists. */
export const PAGE_META = {
  page: integer('Number of this page.', assumed('A-21'), { also: ['current_page'] }),
  per_page: integer('Rows a page.', assumed('A-21')),
  total: integer('Rows in all.', assumed('A-21'), { also: ['total_count', 'total_entries', 'totalItemCount'] }),
  total_pages: integer('Pages in all.', assumed('A-21'), { also: ['last_page', 'pages', 'pageCount'] }),
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
