/** How amounts split and where they go (docs/design/sandbox.md, section 8). */

import { SANDBOX_ADDRESS } from '../../contract/sandbox/basis.ts';
import { checkDigit } from '../../core/card-numbers.ts';
import { type Cents, cents } from '../../core/money.ts';
import type { CardStatus, Currency } from '../store/rows.ts';
import { ACCOUNT } from '../store/schema.ts';

/** Where money of a card goes to and comes from: the card, or the wallet once the card is terminated. */
export function destinationOf(status: CardStatus): 'card' | 'wallet' {
  return status === 'terminated' ? 'wallet' : 'card';
}

/**
 * What is taken from the hold; `excess`, above it or after it, from the sink; and `rest`, left of the hold and
 * given back when the settlement is final.
 */
export function splitSettlement(amount: Cents, held: Cents, final: boolean) {
  const fromHold = cents(Math.min(held, amount));
  return { fromHold, excess: cents(amount - fromHold), rest: cents(final ? held - fromHold : 0) };
}

/** State of an authorization after money moved: `ending` is what it becomes when nothing of it ever settled. */
export function statusAfter(
  sums: { readonly held: Cents; readonly settled: Cents },
  ending: 'reversed' | 'expired',
): 'pending' | 'settled' | 'reversed' | 'expired' {
  if (sums.held > 0) return 'pending';
  return sums.settled > 0 ? 'settled' : ending;
}

/** Strictly below the line, and only an active card: at the line nothing happens. */
export function mustFreeze(card: { status: CardStatus; balance: Cents; auto_freeze_at: Cents | null }): boolean {
  return card.status === 'active' && card.auto_freeze_at !== null && card.balance < card.auto_freeze_at;
}

// Fixed rates, networks and addresses of the sandbox's crypto deposits.

interface Coin {
  /** Price of one coin, cents. Fixed, so that the same deposit is always worth the same. */
  readonly price: number;
  /** Decimals its amounts are written with. */
  readonly decimals: number;
  /** Chains it is received on; deposits of a simulation arrive on the first. */
  readonly networks: readonly [Chain, ...Chain[]];
}

interface Chain {
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

/** An address nobody can take for a real one, always the same. */
export function depositAddress(currency: Currency, chain: Chain): string {
  return `${SANDBOX_ADDRESS}${currency}-${chain.name}-${ACCOUNT}`;
}

/** ms between two confirmations of a deposit on a network. */
export function blockInterval(currency: Currency, network: string): number {
  const { networks } = COINS[currency];
  return (networks.find(chain => chain.name === network) ?? networks[0]).blockInterval;
}

// Card numbers of the sandbox: valid to a checkout form, and never a number that was issued to somebody.

/** Ranges no bank issues from, reserved for tests. The only place that knows how a number begins. */
export const TEST_RANGES = { visa: '400000', mastercard: '555555' } as const;

/** How many random digits a number has between its range and its check digit. */
export const FREE_DIGITS = 9;

/** Sixteen digits: the network's test range, nine free ones and the Luhn check digit. */
export function cardNumber(network: keyof typeof TEST_RANGES, free: string): string {
  const digits = TEST_RANGES[network] + free;
  return digits + checkDigit(digits);
}
