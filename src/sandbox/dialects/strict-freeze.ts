/** `strict-freeze`: "all transactions are suspended" taken literally; settlements wait for the unfreeze. */

import { authorizationOf, settle } from '../account/authorizations.ts';
import { type Act, cardOf, wireCard } from '../account/ledger.ts';
import { endCard, unfreezeCard } from '../handlers/cards.ts';
import { balances, simulateSettle } from '../handlers/simulate.ts';
import { nextCount } from '../store/counters.ts';
import { insertWaiting, takeWaiting } from '../store/transactions.ts';
import type { Dialect } from './dialect.ts';

export const STRICT_FREEZE: Dialect = {
  changes: 'settlements on a frozen card wait until it is unfrozen or terminated',
  handlers: {
    async 'cards.unfreeze'(call) {
      await unfreezeCard(call);
      await settleWaiting(call, call.input.card_id);
      // One of them may have frozen it again.
      return wireCard(await cardOf(call, call.input.card_id));
    },
    async 'cards.terminate'(call) {
      const ended = await endCard(call);
      await settleWaiting(call, call.input.card_id);
      return ended;
    },
  },
  adminHandlers: {
    async 'simulate.settle'(call) {
      const { sql, account, input } = call;
      const authorization = await authorizationOf(call, input.authorization_id);
      const card = await cardOf(call, authorization.card_id);
      const amount = input.amount ?? authorization.held;
      if (card.status !== 'frozen' || amount === 0) return simulateSettle(call);
      await insertWaiting(sql, account, {
        position: await nextCount(sql, account, 'waiting settlement'),
        authorization_id: authorization.id,
        card_id: card.id,
        amount,
        final: (input.final ?? true) ? 1 : 0,
      });
      const said = { outcome: 'waiting', card_id: card.id, authorization_id: authorization.id };
      return { ...said, ...(await balances(call, card.id)), events: [] };
    },
  },
};

async function settleWaiting(act: Act, card: string): Promise<void> {
  for (const { authorization_id, amount, final } of await takeWaiting(act.sql, act.account, card)) {
    await settle(act, await authorizationOf(act, authorization_id), { amount, final: final === 1 });
  }
}
