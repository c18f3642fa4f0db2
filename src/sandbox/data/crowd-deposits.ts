/** Where the money of a large data set comes from: confirmed deposits of a size nobody has to count. */
import { type Cents, cents } from '../../core/money.ts';
import { COINS, cryptoAmount } from '../rules/crypto.ts';
import { insertDeposit } from '../store/deposits.ts';
import type { CrowdLedger } from './crowd-ledger.ts';
import type { Teller } from './demo.ts';

const AMOUNT: Cents = cents(1_000_000_00);

/** Seen and confirmed at `at`. */
export async function confirmLargeDeposit(
  { sql, account, idSource }: Pick<Teller, 'sql' | 'account' | 'idSource'>,
  books: CrowdLedger,
  at: number,
): Promise<void> {
  const [{ name, confirmations }] = COINS.usdt.networks;
  const id = await idSource.id('dep');
  await insertDeposit(sql, account, {
    id,
    currency: 'usdt',
    network: name,
    crypto_amount: cryptoAmount('usdt', AMOUNT),
    amount: AMOUNT,
    status: 'confirmed',
    tx_hash: await idSource.digits('tx', 64),
    confirmations,
    required_confirmations: confirmations,
    created_at: at,
    confirmed_at: at,
  });
  books.post({ kind: 'deposit', ref: id, at, moves: { crypto: -AMOUNT, wallet: AMOUNT } });
}
