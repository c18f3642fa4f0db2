import { columnsOf } from '../../cli/columns.ts';
import { command } from '../../cli/parsing/command.ts';
import type { Shown } from '../../cli/shown.ts';
import type { Result } from '../../contract/calls.ts';
import { WALLET } from '../../contract/resources.ts';
import { plainAmount, toCents } from '../../core/money.ts';
import { money } from '../cards/columns.ts';

const COLUMNS = columnsOf(WALLET, {
  balance: { priority: 1 },
  currency: { priority: 2 },
  pending_deposits: { priority: 2 },
  total_deposited: { priority: 3 },
  total_spent: { priority: 3 },
  cards_active: { priority: 3 },
  cards_total_balance: { priority: 3 },
});

/** Shows the wallet. */
export const showWallet = command({
  path: 'wallet',
  summary: 'Show the wallet: available, on cards, pending, spent',
  operation: 'wallet.get',
  examples: [
    { does: 'In words', run: 'wallet' },
    { does: 'The balance for a script', run: 'wallet --json --fields balance' },
  ],
  run: ctx => ctx.read('wallet.get', {}),
  show: showsWallet,
});

/** How a wallet is shown. */
export function showsWallet(wallet: Result<'wallet.get'>): Shown {
  return {
    noun: 'wallet',
    idField: 'balance',
    quiet: [plainAmount(toCents(wallet.balance))],
    columns: COLUMNS,
    blocks: [
      {
        kind: 'pairs',
        pairs: [
          ['Available', money(wallet.balance)],
          [
            'On cards',
            `${money(wallet.cards_total_balance)}${wallet.cards_active == null ? '' : `   ${wallet.cards_active} active`}`,
          ],
          ['Pending deposits', money(wallet.pending_deposits)],
          ['Total deposited', money(wallet.total_deposited)],
          ['Total spent', money(wallet.total_spent)],
        ],
      },
    ],
  };
}
