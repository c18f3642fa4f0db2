/** Stored rows as objects of the service. The one place for each resource; what is stored is not what is sent. */
import { CARD } from '../../contract/card.ts';
import type { CompleteOf } from '../../contract/field.ts';
import type { BIN, CHALLENGE, DEPOSIT, TRANSACTION, WEBHOOK } from '../../contract/resources.ts';
import { toUsd } from '../../core/money.ts';
import { encodedAs } from '../calls/encoded.ts';
import { wireObject } from '../calls/sealed.ts';
import { isoTime } from '../rules/dates.ts';
import type { BinRow } from '../store/bins.ts';
import type { CardRow } from '../store/cards.ts';
import type { ChallengeRow } from '../store/challenges.ts';
import type { DepositRow } from '../store/deposits.ts';
import type { TransactionRow } from '../store/transactions.ts';
import type { WebhookRow } from '../store/webhooks.ts';

export function wireBin(row: BinRow): CompleteOf<typeof BIN> {
  return {
    id: row.id,
    network: row.network,
    type: row.type,
    '3ds': row.three_ds === 1,
    apple_pay: row.apple_pay === 1,
    google_pay: row.google_pay === 1,
    max_transaction: toUsd(row.max_transaction),
    max_monthly: toUsd(row.max_monthly),
    acceptance_rate: row.acceptance_tenths / 10,
    best_for: JSON.parse(row.best_for) as readonly string[],
  };
}

export function categoriesOf(row: CardRow): readonly string[] {
  return JSON.parse(row.allowed_categories) as readonly string[];
}

export function wireCard(row: CardRow): CompleteOf<typeof CARD> {
  return {
    id: row.id,
    bin_id: row.bin_id,
    network: row.network,
    last4: row.last4,
    status: row.status,
    balance: toUsd(row.balance),
    spending_limit: toUsd(row.spending_limit),
    label: row.label,
    allowed_categories: categoriesOf(row),
    auto_freeze_at: row.auto_freeze_at === null ? null : toUsd(row.auto_freeze_at),
    metadata: JSON.parse(row.metadata) as Readonly<Record<string, string>>,
    created_at: isoTime(row.created_at),
    expires_at: isoTime(row.expires_at),
  };
}

/** The card exactly as it is sent; stored beside its row. */
export function cardDocument(row: CardRow) {
  const wire = wireCard(row);
  const document = JSON.stringify(wireObject(CARD, wire));
  return { id: row.id, document, wire: encodedAs(wire, document) };
}

export function wireTransaction(row: TransactionRow): CompleteOf<typeof TRANSACTION> {
  return {
    id: row.id,
    card_id: row.card_id,
    type: row.type,
    status: row.status,
    amount: toUsd(row.amount),
    currency: 'USD',
    merchant: row.merchant,
    mcc: row.mcc,
    merchant_country: row.merchant_country,
    authorization_id: row.authorization_id,
    decline_reason: row.decline_reason,
    created_at: isoTime(row.created_at),
  };
}

export function wireChallenge(row: ChallengeRow): CompleteOf<typeof CHALLENGE> {
  return {
    id: row.id,
    card_id: row.card_id,
    merchant: row.merchant,
    amount: toUsd(row.amount),
    otp: row.otp,
    status: row.status,
    expires_at: isoTime(row.expires_at),
  };
}

export function wireDeposit(row: DepositRow): CompleteOf<typeof DEPOSIT> {
  return {
    id: row.id,
    currency: row.currency,
    network: row.network,
    crypto_amount: row.crypto_amount,
    amount: toUsd(row.amount),
    status: row.status,
    tx_hash: row.tx_hash,
    confirmations: row.confirmations,
    required_confirmations: row.required_confirmations,
    created_at: isoTime(row.created_at),
    confirmed_at: row.confirmed_at === null ? null : isoTime(row.confirmed_at),
  };
}

/** Without the secret: only the create answer carries it. */
export function wireWebhook(row: WebhookRow): CompleteOf<typeof WEBHOOK> {
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as readonly string[],
    status: row.status,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}
