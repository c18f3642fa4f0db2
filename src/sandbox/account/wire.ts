/** Stored rows as objects of the service: what is stored is not what is sent. */
import { CARD } from '../../contract/card.ts';
import type { CompleteOf, Shape } from '../../contract/field.ts';
import { BIN, CHALLENGE, DEPOSIT, TRANSACTION, WEBHOOK } from '../../contract/resources.ts';
import { type Cents, toUsd } from '../../core/money.ts';
import { wireObject } from '../calls/handler.ts';
import { isoTime } from '../rules/dates.ts';
import type { BinRow, CardRow, ChallengeRow, DepositRow, TransactionRow, WebhookRow } from '../store/rows.ts';

/**
 * The fields of a shape, from the columns of their names: cents become USD, ms ISO 8601, 0 and 1 yes and no, JSON text
 * what it says. A column of another form is taken as it is; money is cents always.
 */
export function wired<S extends Shape>(shape: S, row: Readonly<Record<keyof S, unknown>>): CompleteOf<S> {
  const sent: Record<string, unknown> = {};
  for (const name in shape) {
    const value = row[name];
    switch (value === null ? undefined : shape[name]?.kind) {
      case 'money':
        sent[name] = toUsd(value as Cents);
        break;
      case 'time':
        sent[name] = typeof value === 'number' ? isoTime(value) : value;
        break;
      case 'flag':
        sent[name] = value === 1 || value === true;
        break;
      case 'list':
      case 'map':
      case 'object':
        sent[name] = typeof value === 'string' ? JSON.parse(value) : value;
        break;
      default:
        sent[name] = value;
    }
  }
  return sent as CompleteOf<S>;
}

export const wireBin = (row: BinRow) =>
  wired(BIN, { ...row, '3ds': row.three_ds, acceptance_rate: row.acceptance_tenths / 10 });

export const wireCard = (row: CardRow) => wired(CARD, row);

/** The card exactly as it is sent: every change of a card writes it anew beside its row, so that reading a page encodes nothing. */
export const documentOf = (card: ReturnType<typeof wireCard>) => JSON.stringify(wireObject(CARD, card));

export const wireTransaction = (row: TransactionRow) => wired(TRANSACTION, { ...row, currency: 'USD' });

export const wireChallenge = (row: ChallengeRow) => wired(CHALLENGE, row);

export const wireDeposit = (row: DepositRow) => wired(DEPOSIT, row);

/** Without the secret: only the create answer carries it. */
export const wireWebhook = (row: WebhookRow) => wired(WEBHOOK, row);
