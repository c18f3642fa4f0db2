/** What every simulation answers: the ids it made, the events it caused and the balances after. */
import type { EventName } from '../../contract/events.ts';
import { type Cents, toUsd } from '../../core/money.ts';
import type { Act } from '../account/acting.ts';
import type { AdminHandlers } from '../calls/handler.ts';
import { cardById } from '../store/cards.ts';
import { walletOf } from '../store/wallet.ts';

export interface Done {
  readonly outcome: string;
  readonly card_id?: string;
  readonly transaction_id?: string;
  readonly authorization_id?: string;
  readonly challenge_id?: string;
  readonly deposit_id?: string;
  readonly confirmations?: number;
  readonly required_confirmations?: number;
  readonly decline_reason?: string;
}

type CallOf<N extends keyof AdminHandlers> = Parameters<AdminHandlers[N]>[0];

/** Makes a handler of what one simulation does; adds events and balances to what it says. */
export function simulation<N extends keyof AdminHandlers>(
  _name: N,
  work: (act: Act, input: CallOf<N>['input']) => Promise<Done>,
): (call: CallOf<N>) => Promise<Readonly<Record<string, unknown>>> {
  return async call => {
    const { sql, account, now, idSource } = call;
    const events: EventName[] = [];
    const emit: Act['emit'] = async (event, data) => {
      events.push(event);
      await call.emit(event, data);
    };
    const done = await work({ sql, account, now, idSource, emit }, call.input);
    return { ...done, ...(await balances(call, done.card_id)), events };
  };
}

export async function balances({ sql, account }: Pick<Act, 'sql' | 'account'>, cardId: string | undefined) {
  const card = cardId === undefined ? undefined : await cardById(sql, account, cardId);
  const wallet = (await walletOf(sql, account))?.balance ?? (0 as Cents);
  return {
    ...(card && { card_status: card.status, card_balance: toUsd(card.balance) }),
    wallet_balance: toUsd(wallet),
  };
}
