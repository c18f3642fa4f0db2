/** Which challenges are meant, and how they are shown. */
import { columnsOf } from '../../cli/columns.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { money, text } from '../../contract/field.ts';
import { CHALLENGE } from '../../contract/resources.ts';
import { type Cents, centsOf } from '../../core/money.ts';

export const CHALLENGE_COLUMNS = columnsOf(CHALLENGE, {
  id: { priority: 1 },
  card_id: { title: 'CARD', priority: 4 },
  merchant: { priority: 2, shrink: true },
  amount: { priority: 1 },
  otp: { title: 'CODE', priority: 1 },
  status: { priority: 1 },
  expires_at: { title: 'EXPIRES', priority: 3 },
});

export const MATCH_FLAGS = {
  merchant: option(text({ doc: 'Only where the merchant contains this.', basis: OURS })),
  amount: option(money({ doc: 'Only for exactly this amount, USD.', basis: OURS, min: 1 })),
} as const;

export interface Meant {
  readonly merchant: string | undefined;
  readonly amount: Cents | undefined;
}

/** The filters of ours; card and status are the service's. */
export function matching({ merchant, amount }: Meant): (row: object) => boolean {
  return row => {
    const fields = row as Readonly<Record<string, unknown>>;
    const name = String(fields['merchant'] ?? '').toLowerCase();
    if (merchant !== undefined && !name.includes(merchant.toLowerCase())) return false;
    return amount === undefined || (typeof fields['amount'] === 'number' && centsOf(fields['amount']) === amount);
  };
}
