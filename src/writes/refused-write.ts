/** What a refused write says beside the service's own words: what was asked, what is there, what to do next. */

import type { Reader } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import { type Cents, cents, dollars, toCents } from '../core/money.ts';

/** The write that was refused. */
interface RefusedWrite {
  readonly input: { readonly amount?: Cents };
  /** Idempotency key chosen by the caller. */
  readonly key?: string | undefined;
}

interface AskedService {
  readonly reader: () => Promise<Reader>;
  readonly identity: () => Promise<Identity>;
}

/** How a wallet that is too low is filled. */
export function fillingWallet({ mode }: Pick<Identity, 'mode'>): Pick<CliError['facts'], 'hint' | 'notes'> {
  if (mode !== 'sandbox') return { hint: 'cardwright wallet addresses' };
  return {
    hint: 'cardwright sandbox simulate deposit --currency usdt --amount 1000',
    notes: ['A deposit counts once it is confirmed: cardwright sandbox clock advance --by 1h'],
  };
}

/** The error of a refused write, explained where the numbers or the key of the user explain it; else as it came. */
export async function explainRefusal(
  thrown: unknown,
  write: RefusedWrite,
  { reader, identity }: AskedService,
): Promise<unknown> {
  const error = ownKeyReused(thrown, write.key);
  if (!(error instanceof CliError) || error.kind !== 'insufficient_funds') return error;
  return shortOfFunds(error, write, { reader, identity });
}

/** A key the caller chose and used before for something else is the caller's matter, not a bug of ours. */
function ownKeyReused(thrown: unknown, key: string | undefined): unknown {
  if (key === undefined || !(thrown instanceof CliError) || thrown.kind !== 'internal') return thrown;
  return new CliError('refused', {
    ...thrown.facts,
    message: `the service knows the idempotency key ${JSON.stringify(key)} from a different request; this command has changed nothing. Another purchase needs another key`,
    notes: ['No operation of this machine has used it: another machine or program did.'],
  });
}

/** The wallet's refusal with what was asked and what is there; the service's own words stay in the error. */
async function shortOfFunds(
  refused: CliError,
  { input }: RefusedWrite,
  { reader, identity }: AskedService,
): Promise<CliError> {
  if (input.amount === undefined) return refused;
  try {
    const wallet = await (await reader()).read('wallet.get', {});
    const there = toCents(wallet.balance);
    // It was topped up meanwhile.
    if (there >= input.amount) return refused;
    const short = cents(input.amount - there);
    return refused.with({
      message: `the wallet is too low: ${dollars(input.amount)} asked, ${dollars(there)} there, ${dollars(short)} short`,
      ...fillingWallet(await identity()),
    });
  } catch {
    // The wallet could not be read either: the refusal itself is what the user must see.
    return refused;
  }
}
