/** `ledger-balance`: what a card holds is shown with its open holds in it. Decisions stay as they are. */

import { type Cents, cents, centsOf, toUsd } from '../../core/money.ts';
import { isObject } from '../../core/objects.ts';
import { Encoded } from '../calls/handler.ts';
import { allHolds, holdOf } from '../store/cards.ts';
import type { Dialect, Fields, Within } from './dialect.ts';

export const LEDGER_BALANCE: Dialect = {
  changes: 'balance includes holds',
  async reply(within, operation, reply) {
    if (!isObject(reply)) return reply;
    if (operation === 'wallet.get') {
      const { sql, account } = within;
      return raised(reply, 'cards_total_balance', await allHolds(sql, account));
    }
    if (operation === 'cards.fund' || operation === 'cards.withdraw') {
      return raised(reply, 'card_balance', await holdFor(within, reply['card_id']));
    }
    if (operation === 'cards.list') {
      const cards = reply['data'] as readonly (Fields | Encoded)[];
      const data = [];
      for (const card of cards) data.push(await withHold(within, card));
      return { ...reply, data };
    }
    return isCard(reply) ? withHold(within, reply) : reply;
  },
  eventData: async (within, _event, data) => (isCard(data) ? ((await withHold(within, data)) as Fields) : data),
};

function isCard(value: unknown): boolean {
  return value instanceof Encoded || (isObject(value) && 'last4' in value && 'balance' in value);
}

async function withHold(within: Within, card: Fields | Encoded): Promise<Fields> {
  const plain = card instanceof Encoded ? (card.toJSON() as Fields) : card;
  return raised(plain, 'balance', await holdFor(within, plain['id']));
}

function holdFor({ sql, account }: Within, card: unknown): Promise<Cents> {
  return holdOf(sql, account, String(card));
}

function raised(values: Fields, name: string, by: Cents): Fields {
  const shown = centsOf(values[name] as number) ?? 0;
  return { ...values, [name]: toUsd(cents(shown + by)) };
}
