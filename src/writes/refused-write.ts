/** What a refused write says beside the service's own words: what was asked, what is there, what to do next. */

import type { Reader } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import { type Cents, cents, dollars, toCents } from '../core/money.ts';

/** How a wallet that is short of money is filled; in the sandbox by a deposit of whole thousands, and its confirmation. */
export function fillingWallet(
  { mode }: Pick<Identity, 'mode'>,
  short: Cents,
): Pick<CliError['facts'], 'hint' | 'notes'> {
  if (mode !== 'sandbox') return { hint: 'cardwright wallet addresses' };
  const deposit = 1000 * Math.ceil(short / 100_000);
  return {
    hint: `cardwright sandbox simulate deposit --currency usdt --amount ${deposit}`,
    notes: ['A deposit counts once it is confirmed. After it: cardwright sandbox clock advance --by 1h'],
  };
}

/** The error of a refused write; the wallet's with what was asked and what is there, the service's own words stay in it. */
export async function explainRefusal(
  refused: unknown,
  input: { readonly amount?: Cents },
  { reader, identity }: { readonly reader: () => Promise<Reader>; readonly identity: () => Promise<Identity> },
): Promise<unknown> {
  if (!(refused instanceof CliError) || refused.kind !== 'insufficient_funds') return refused;
  if (input.amount === undefined) return refused;
  try {
    const wallet = await (await reader()).read('wallet.get', {});
    const there = toCents(wallet.balance);
    // It was topped up meanwhile.
    if (there >= input.amount) return refused;
    const short = cents(input.amount - there);
    return refused.with({
      message: `the wallet is too low: ${dollars(input.amount)} asked, ${dollars(there)} there, ${dollars(short)} short`,
      ...fillingWallet(await identity(), short),
    });
  } catch {
    // The wallet could not be read either: the refusal itself is what the user must see.
    return refused;
  }
}
