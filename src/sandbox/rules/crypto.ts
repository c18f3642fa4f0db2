/** Fixed rates, networks and addresses of the sandbox's crypto deposits. */
import { SANDBOX_ADDRESS } from '../../contract/sandbox/basis.ts';
import { type Cents, cents } from '../../core/money.ts';
import type { Currency } from '../store/deposits.ts';

interface Coin {
  /** Price of one coin, cents. Fixed, so that the same deposit is always worth the same. */
  readonly price: number;
  /** Decimals its amounts are written with. */
  readonly decimals: number;
  /** Chains it is received on; deposits of a simulation arrive on the first. */
  readonly networks: readonly [Chain, ...Chain[]];
}

export interface Chain {
  readonly name: string;
  readonly confirmations: number;
  /** ms between two blocks, hence between two confirmations. */
  readonly blockInterval: number;
}

const BITCOIN: Chain = { name: 'bitcoin', confirmations: 2, blockInterval: 600_000 };
const ETHEREUM: Chain = { name: 'ethereum', confirmations: 12, blockInterval: 12_000 };
const SOLANA: Chain = { name: 'solana', confirmations: 1, blockInterval: 13_000 };
const TRON: Chain = { name: 'tron', confirmations: 20, blockInterval: 3_000 };

export const COINS: Readonly<Record<Currency, Coin>> = {
  btc: { price: 6_500_000, decimals: 8, networks: [BITCOIN] },
  eth: { price: 250_000, decimals: 8, networks: [ETHEREUM] },
  sol: { price: 12_500, decimals: 9, networks: [SOLANA] },
  usdt: { price: 100, decimals: 6, networks: [TRON, ETHEREUM, SOLANA] },
};

/** Amount in the coin as text, rounded to its last decimal: 650.00 USD of btc is `0.01000000`. */
export function cryptoAmount(currency: Currency, amount: Cents): string {
  const { price, decimals } = COINS[currency];
  const units = (BigInt(amount) * 10n ** BigInt(decimals) * 2n + BigInt(price)) / (BigInt(price) * 2n);
  const digits = units.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/**
 * Cents of an amount in the coin, rounded down: a deposit is never worth more than it was. Undefined for text that is
 * no amount, or has more decimals than the coin.
 */
export function coinsWorth(currency: Currency, coins: string): Cents | undefined {
  const { price, decimals } = COINS[currency];
  const [, whole = '', fraction = ''] = /^(\d{1,12})(?:\.(\d+))?$/.exec(coins) ?? [];
  if (whole === '' || fraction.length > decimals) return undefined;
  const units = BigInt(whole + fraction.padEnd(decimals, '0'));
  const value = Number((units * BigInt(price)) / 10n ** BigInt(decimals));
  return Number.isSafeInteger(value) ? cents(value) : undefined;
}

/** An address nobody can take for a real one, always the same for an account. */
export function depositAddress(account: string, currency: Currency, chain: Chain): string {
  return `${SANDBOX_ADDRESS}${currency}-${chain.name}-${account}`;
}

/** ms between two confirmations of a deposit on a network. */
export function blockInterval(currency: Currency, network: string): number {
  const { networks } = COINS[currency];
  return (networks.find(chain => chain.name === network) ?? networks[0]).blockInterval;
}
