/** Interface 2.1, the card, and what the details, fund and withdraw operations answer (section 4). */
import { assumed, stated } from './basis.ts';
import { choice, integer, list, map, money, must, nullable, sealed, text, time } from './field.ts';
import { LIMITS, within } from './limits.ts';

export const CARD_ID = must(text('Card identifier.', stated('2.1', 'A-130'), { names: 'card' }));

export const CARD_STATUSES = ['active', 'frozen', 'terminated'] as const;
export const NETWORKS = ['visa', 'mastercard'] as const;

/** Lowercase name of one of two networks; which two is assumed. */
export const NETWORK = choice(NETWORKS, 'Lowercase name of the card network.', stated('2.1', 'A-131'));

export const LABEL = text('Custom label.', stated('2.1', 'A-169'), { maxLength: LIMITS.labelLength.max });

const CATEGORY = text('A four-digit MCC or a category word.', stated('4.1', 'A-134'), { names: 'category' });

export const METADATA = map('Key-value pairs.', stated('2.1', 'A-166'), { maxKeys: LIMITS.metadataKeys.max });

export const BIN_ID = must(text('Id of the BIN that the card is issued from.', stated('2.1'), { names: 'bin' }));

export const CARD = {
  id: CARD_ID,
  bin_id: text('Identifier of the BIN the card was issued from.', stated('2.1'), { names: 'bin' }),
  network: NETWORK,
  last4: must(text('Last four digits of the card number.', stated('2.1'))),
  status: must(choice(CARD_STATUSES, 'State of the card.', stated('2.1'))),
  balance: must(money('Current balance, USD.', stated('2.1', 'A-150'))),
  spending_limit: money("Monthly spending limit, USD. Defaults to the BIN's maximum.", stated('2.1', 'A-161')),
  label: LABEL,
  allowed_categories: list(CATEGORY, 'Whitelisted MCC categories; empty means no restriction.', stated('2.1', 'A-134')),
  auto_freeze_at: nullable(
    money('Amount below which the card freezes automatically, USD. Null when unset.', stated('2.1', 'A-163')),
  ),
  metadata: METADATA,
  created_at: time('When it was issued.', stated('2.1', 'A-137')),
  expires_at: time('When it expires.', stated('2.1', 'A-138')),
} as const;

/** Body of create card, interface 4.1. */
export const CREATE_CARD = {
  bin_id: { ...BIN_ID, basis: stated('4.1') },
  amount: must(money('Initial funding, USD, taken from the wallet.', stated('4.1'), within(LIMITS.fundingAmount))),
  label: text('Custom label.', stated('4.1', 'A-166'), { maxLength: LIMITS.labelLength.max }),
  spending_limit: money('Monthly limit, USD.', stated('4.1', 'A-162'), within(LIMITS.monthlySpending)),
  allowed_categories: list(CATEGORY, 'MCC categories to allow; all by default.', stated('4.1', 'A-134')),
  auto_freeze_at: money(
    'Freeze the card automatically when its balance drops below this amount, USD. An amount, not a time.',
    stated('4.1', 'A-164'),
    within(LIMITS.autoFreezeAt),
  ),
  metadata: map('Key-value pairs of your own.', stated('4.1', 'A-166'), { maxKeys: LIMITS.metadataKeys.max }),
} as const;

/** Body of fund card, interface 4.3. */
export const FUND_CARD = {
  amount: must(money('Amount to add, USD, taken from the wallet.', stated('4.3'), within(LIMITS.fundingAmount))),
} as const;

/** Body of the operation that removes funds from a card; stated to exist, nothing else shown. */
export const WITHDRAW_CARD = {
  amount: must(
    money(
      'Amount to move back to the wallet, USD, up to the balance of the card.',
      assumed('A-09'),
      within(LIMITS.withdrawAmount),
    ),
  ),
} as const;

/** Answer of fund and withdraw: its content is stated, its names are not. */
export const FUNDING = {
  card_id: text('Card whose balance changed.', assumed('A-31'), { names: 'card', also: ['card.id'] }),
  amount: money('Amount that moved, USD.', assumed('A-31')),
  card_balance: must(
    money('Balance of the card now, USD.', stated('4', 'A-31'), { also: ['card.balance', 'balance', 'new_balance'] }),
  ),
  wallet_balance: must(money('Balance of the wallet now, USD.', stated('4', 'A-31'), { also: ['wallet.balance'] })),
} as const;

/** Answer of card details: PAN, CVV and full expiry are stated, the names are not. `number` travels as `pan`. */
export const DETAILS = {
  card_id: text('Card identifier.', assumed('A-30'), { names: 'card', also: ['id', 'card.id'] }),
  number: must(
    sealed('Full card number (PAN).', stated('2.1', 'A-30'), {
      wire: 'pan',
      also: ['number', 'card_number', 'primary_account_number', 'full_number', 'card.number', 'card.pan'],
    }),
  ),
  cvv: must(
    sealed('Security code (CVV).', stated('2.1', 'A-30'), {
      also: ['cvc', 'cvv2', 'cvn', 'security_code', 'verification_code', 'card.cvc', 'card.cvv'],
    }),
  ),
  exp_month: must(
    integer('Month of expiry, 1 to 12.', stated('2.1', 'A-30'), {
      min: 1,
      max: 12,
      also: ['expiry_month', 'expiration_month'],
    }),
  ),
  exp_year: must(
    integer('Year of expiry, four digits.', stated('2.1', 'A-30'), {
      min: 2000,
      max: 2199,
      also: ['expiry_year', 'expiration_year'],
    }),
  ),
} as const;

/** One text that holds month and year; split into `exp_month` and `exp_year` when those are missing. */
export const COMBINED_EXPIRY = ['expiry', 'expiration', 'exp', 'card.expiry', 'card.expiration'] as const;
