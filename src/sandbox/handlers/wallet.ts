/** wallet.get, wallet.addresses */
import { CURRENCIES } from '../../contract/resources.ts';
import { CliError } from '../../core/errors.ts';
import { toUsd } from '../../core/money.ts';
import type { Handlers } from '../calls/handler.ts';
import { COINS, depositAddress } from '../rules/crypto.ts';
import { walletOf, walletSums } from '../store/wallet.ts';

export const getWallet: Handlers['wallet.get'] = async ({ sql, account }) => {
  const wallet = await walletOf(sql, account);
  const sums = await walletSums(sql, account);
  if (wallet === undefined || sums === undefined) {
    throw new CliError('internal', { message: `no wallet for account ${account}` });
  }
  return {
    balance: toUsd(wallet.balance),
    currency: 'USD',
    pending_deposits: toUsd(sums.pending_deposits),
    total_deposited: toUsd(wallet.deposited),
    total_spent: toUsd(wallet.spent),
    cards_active: sums.cards_active,
    cards_total_balance: toUsd(sums.cards_total_balance),
  };
};

/** A currency may be received on several networks: one address for each. */
export const listAddresses: Handlers['wallet.addresses'] = async ({ account, input }) => {
  const currencies = input.currency === undefined ? CURRENCIES : [input.currency];
  const data = currencies.flatMap(currency =>
    COINS[currency].networks.map(chain => ({
      currency,
      network: chain.name,
      address: depositAddress(account, currency, chain),
      memo: null,
      min_confirmations: chain.confirmations,
    })),
  );
  return { data, page: {} };
};
