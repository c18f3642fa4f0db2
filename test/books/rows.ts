/** Rows of the books for tests, whole but for what a test names. */
import type { CardRow, TxRow } from '../../src/books/rows.ts';
import { cents } from '../../src/core/money.ts';

export const NOW = Date.parse('2026-11-22T16:02:00Z');
export const DAY = 86_400_000;

/** A card of 100 days with $100.00 and a limit of $5,000.00. */
export function card(options: Partial<CardRow> & { readonly card_id: string }): CardRow {
  return {
    bin_id: 'bin_1',
    network: 'visa',
    last4: '4242',
    label: null,
    status: 'active',
    balance_cents: cents(100_00),
    spending_limit_cents: cents(5_000_00),
    auto_freeze_cents: null,
    allowed_categories: '[]',
    metadata: '{}',
    created_ms: NOW - 100 * DAY,
    expires_ms: NOW + 900 * DAY,
    first_seen: NOW - 100 * DAY,
    gone_at: null,
    ...options,
  };
}

/** A settlement without an authorization, in the status that the service gives one. */
export function record(
  options: Partial<Omit<TxRow, 'cents'>> & { readonly tx_id: string; readonly cents: number },
): TxRow {
  const at = options.at_ms ?? NOW;
  return {
    card_id: 'card_1',
    type: 'settlement',
    status: 'settled',
    currency: 'USD',
    merchant: 'CLOUD CO',
    mcc: '5734',
    merchant_country: 'US',
    authorization_id: null,
    decline_reason: null,
    at_ms: at,
    created_at: new Date(at).toISOString(),
    first_seen: at,
    gone_at: null,
    ...options,
    cents: cents(options.cents),
  };
}
