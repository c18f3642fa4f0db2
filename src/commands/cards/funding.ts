/** What fund and withdraw share: balances before, balances after. */
import { columnsOf } from '../../cli/columns.ts';
import type { Result } from '../../contract/calls.ts';
import { FUNDING } from '../../contract/card.ts';
import type { Reader } from '../../contract/service.ts';
import type { Block } from '../../terminal/view.ts';
import type { UsedIntent } from '../../writes/single-write.ts';
import { money } from './columns.ts';
import { repeatedLines } from './intent-flag.ts';

export const FUNDING_COLUMNS = columnsOf(FUNDING, {
  card_id: { priority: 1 },
  amount: { priority: 2 },
  card_balance: { priority: 1 },
  wallet_balance: { priority: 1 },
});

export interface Balances {
  readonly card: number;
  readonly wallet: number;
}

/** Card and wallet just before the money moves. */
export async function balancesBefore(reader: Reader, cardId: string): Promise<Balances> {
  const [card, wallet] = await Promise.all([
    reader.read('cards.get', { card_id: cardId }),
    reader.read('wallet.get', {}),
  ]);
  return { card: card.balance, wallet: wallet.balance };
}

interface Moved {
  readonly result: Result<'cards.fund'>;
  readonly before: Balances | undefined;
  readonly reread: boolean;
  readonly intent?: UsedIntent;
}

export function movedBlocks(verb: string, { result, before, reread, intent }: Moved): readonly Block[] {
  const change = (was: number | undefined, now: number) =>
    was === undefined ? money(now) : `${money(was)} -> ${money(now)}`;
  return [
    ...repeatedLines(intent),
    { kind: 'line', text: `${verb} ${result.card_id ?? 'the card'}: ${money(result.amount)}.` },
    {
      kind: 'pairs',
      pairs: [
        ['Card', change(before?.card, result.card_balance)],
        ['Wallet', change(before?.wallet, result.wallet_balance)],
        ...(reread ? ([['Balances', 'read again after the answer']] as const) : []),
      ],
    },
  ];
}
