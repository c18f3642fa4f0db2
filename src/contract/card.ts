/** Interface 2.1, the card, and what the details, fund and withdraw operations answer (section 4). */
import { assumed, stated } from './basis.ts';
import { choice, integer, list, map, money, must, nullable, sealed, text, time } from './field.ts';
import { LIMITS } from './limits.ts';

export const CARD_ID = must(text({ doc: 'Card identifier.', basis: stated('2.1', 'A-130'), names: 'card' }));

export const CARD_STATUSES = ['active', 'frozen', 'terminated'] as const;
const NETWORKS = ['visa', 'mastercard'] as const;

/** Lowercase name of one of two networks; which two is assumed. */
export const NETWORK = choice(NETWORKS, { doc: 'Lowercase name of the card network.', basis: stated('2.1', 'A-131') });

export const LABEL = text({ doc: 'Custom label.', basis: stated('2.1', 'A-169'), maxLength: LIMITS.labelLength.max });

const CATEGORY = text({
  doc: 'A four-digit MCC or a category word.',
  basis: stated('4.1', 'A-134'),
  names: 'category',
});

export const METADATA = map({
  doc: 'Key-value pairs.',
  basis: stated('2.1', 'A-166'),
  maxKeys: LIMITS.metadataKeys.max,
});

export const BIN_ID = must(
  text({ doc: 'Id of the BIN that the card is issued from.', basis: stated('2.1'), names: 'bin' }),
);

export const CARD = {
  id: CARD_ID,
  bin_id: text({ doc: 'Identifier of the BIN the card was issued from.', basis: stated('2.1'), names: 'bin' }),
  network: NETWORK,
  last4: must(text({ doc: 'Last four digits of the card number.', basis: stated('2.1') })),
  status: must(choice(CARD_STATUSES, { doc: 'State of the card.', basis: stated('2.1') })),
  balance: must(money({ doc: 'Current balance, USD.', basis: stated('2.1', 'A-150') })),
  spending_limit: money({
    doc: "Monthly spending limit, USD. Defaults to the BIN's maximum.",
    basis: stated('2.1', 'A-161'),
  }),
  label: LABEL,
  allowed_categories: list(CATEGORY, {
    doc: 'Whitelisted MCC categories; empty means no restriction.',
    basis: stated('2.1', 'A-134'),
  }),
  auto_freeze_at: nullable(
    money({
      doc: 'Amount below which the card freezes automatically, USD. Null when unset.',
      basis: stated('2.1', 'A-163'),
    }),
  ),
  metadata: METADATA,
  created_at: time({ doc: 'When it was issued.', basis: stated('2.1', 'A-137') }),
  expires_at: time({ doc: 'When it expires.', basis: stated('2.1', 'A-138') }),
} as const;

/** Body of create card, interface 4.1. */
export const CREATE_CARD = {
  bin_id: { ...BIN_ID, basis: stated('4.1') },
  amount: must(
    money({
      doc: 'Initial funding, USD, taken from the wallet.',
      basis: stated('4.1'),
      min: LIMITS.fundingAmount.min,
      max: LIMITS.fundingAmount.max,
    }),
  ),
  label: text({ doc: 'Custom label.', basis: stated('4.1', 'A-166'), maxLength: LIMITS.labelLength.max }),
  spending_limit: money({
    doc: 'Monthly limit, USD.',
    basis: stated('4.1', 'A-162'),
    min: LIMITS.monthlySpending.min,
    defaults: LIMITS.monthlySpending.defaults,
  }),
  allowed_categories: list(CATEGORY, {
    doc: 'MCC categories to allow; all by default.',
    basis: stated('4.1', 'A-134'),
  }),
  auto_freeze_at: money({
    doc: 'Freeze the card automatically when its balance drops below this amount, USD. An amount, not a time.',
    basis: stated('4.1', 'A-164'),
    min: LIMITS.autoFreezeAt.min,
  }),
  metadata: map({
    doc: 'Key-value pairs of your own.',
    basis: stated('4.1', 'A-166'),
    maxKeys: LIMITS.metadataKeys.max,
  }),
} as const;

/** Body of fund card, interface 4.3. */
export const FUND_CARD = {
  amount: must(
    money({
      doc: 'Amount to add, USD, taken from the wallet.',
      basis: stated('4.3'),
      min: LIMITS.fundingAmount.min,
      max: LIMITS.fundingAmount.max,
    }),
  ),
} as const;

/** Body of the operation that removes funds from a card; stated to exist, nothing else shown. */
export const WITHDRAW_CARD = {
  amount: must(
    money({
      doc: 'Amount to move back to the wallet, USD, up to the balance of the card.',
      basis: assumed('A-09'),
      min: LIMITS.withdrawAmount.min,
    }),
  ),
} as const;

/** Answer of fund and withdraw: its content is stated, its names are not. */
export const FUNDING = {
  card_id: text({ doc: 'Card whose balance changed.', basis: assumed('A-31'), names: 'card', also: ['card.id'] }),
  amount: money({ doc: 'Amount that moved, USD.', basis: assumed('A-31') }),
  card_balance: must(
    money({
      doc: 'Balance of the card now, USD.',
      basis: stated('4', 'A-31'),
      also: ['card.balance', 'balance', 'new_balance'],
    }),
  ),
  wallet_balance: must(
    money({ doc: 'Balance of the wallet now, USD.', basis: stated('4', 'A-31'), also: ['wallet.balance'] }),
  ),
} as const;

/** Answer of card details: PAN, CVV and full expiry are stated, the names are not. `number` travels as `pan`. */
export const DETAILS = {
  card_id: text({ doc: 'Card identifier.', basis: assumed('A-30'), names: 'card', also: ['id', 'card.id'] }),
  number: must(
    sealed({
      doc: 'Full card number (PAN).',
      basis: stated('2.1', 'A-30'),
      wire: 'pan',
      also: ['number', 'card_number', 'primary_account_number', 'full_number', 'card.number', 'card.pan'],
    }),
  ),
  cvv: must(
    sealed({
      doc: 'Security code (CVV).',
      basis: stated('2.1', 'A-30'),
      also: ['cvc', 'cvv2', 'cvn', 'security_code', 'verification_code', 'card.cvc', 'card.cvv'],
    }),
  ),
  exp_month: must(
    integer({
      doc: 'Month of expiry, 1 to 12.',
      basis: stated('2.1', 'A-30'),
      min: 1,
      max: 12,
      also: ['expiry_month', 'expiration_month'],
    }),
  ),
  exp_year: must(
    integer({
      doc: 'Year of expiry, four digits.',
      basis: stated('2.1', 'A-30'),
      min: 2000,
      max: 2199,
      also: ['expiry_year', 'expiration_year'],
    }),
  ),
} as const;

/** One text that holds month and year; split into `exp_month` and `exp_year` when those are missing. */
export const COMBINED_EXPIRY = ['expiry', 'expiration', 'exp', 'card.expiry', 'card.expiration'] as const;
