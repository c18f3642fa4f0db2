/** Where the money of a large data set comes from: confirmed deposits of a size nobody has to count. */
import { type Cents, cents } from '../../core/money.ts';
import { COINS, cryptoAmount } from '../rules/crypto.ts';
import { insertDeposit } from '../store/deposits.ts';
import type { CrowdBooks } from './crowd-books.ts';
import type { Teller } from './demo.ts';

const AMOUNT: Cents = cents(1_000_000_00);

/** Seen and confirmed at `at`. */
export async function confirmLargeDeposit(
  { sql, account, chance }: Pick<Teller, 'sql' | 'account' | 'chance'>,
  books: CrowdBooks,
  at: number,
): Promise<void> {
  const [{ name, confirmations }] = COINS.usdt.networks;
  const id = await chance.id('dep');
  await insertDeposit(sql, account, {
    id,
    currency: 'usdt',
    network: name,
    crypto_amount: cryptoAmount('usdt', AMOUNT),
    amount: AMOUNT,
    status: 'confirmed',
    tx_hash: await chance.digits('tx', 64),
    confirmations,
    required_confirmations: confirmations,
    created_at: at,
    confirmed_at: at,
  });
  books.post({ kind: 'deposit', ref: id, at, moves: { crypto: -AMOUNT, wallet: AMOUNT } });
}
