/** What is read to judge a write by: the card, the wallet, the state of a resource. */
import { type Balances, balancesIn, type CardAndWallet } from '../contract/evidence.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, cents, centsOf } from '../core/money.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import type { RequestFacts } from './decode.ts';

type Values = Readonly<Record<string, unknown>>;

export interface ReadBackParts {
  /** Sends a reading operation and returns its result. Throws as `send` does. */
  readonly read: (operation: string, input: Values) => Promise<Values>;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The balance of a card as it is now. Throws as `readBalances`. */
export async function readCard(read: ReadBackParts['read'], cardId: unknown): Promise<Balances> {
  const card = await read('cards.get', { card_id: cardId });
  const balance = typeof card['balance'] === 'number' ? centsOf(card['balance']) : undefined;
  if (balance !== undefined) return { card: cents(balance) };
  throw new CliError('contract_mismatch', { message: 'the balance of the card is not an amount' });
}

/** Card and wallet as they are now. Throws as reading does; `contract_mismatch` for a balance that is no amount. */
export async function readBalances(read: ReadBackParts['read'], cardId: unknown): Promise<CardAndWallet> {
  const [card, wallet] = await Promise.all([read('cards.get', { card_id: cardId }), read('wallet.get', {})]);
  const balances = balancesIn(card['balance'], wallet['balance']);
  if (balances !== undefined) return balances;
  throw new CliError('contract_mismatch', { message: 'the balance of the card or of the wallet is not an amount' });
}

/** The wallet as it is now. Throws as `readBalances`. */
export async function readWallet(read: ReadBackParts['read']): Promise<Cents> {
  const { balance } = await read('wallet.get', {});
  const amount = typeof balance === 'number' ? centsOf(balance) : undefined;
  if (amount !== undefined) return amount;
  throw new CliError('contract_mismatch', { message: 'the balance of the wallet is not an amount' });
}

/**
 * The member that a change of state sets, as it is now; undefined when it cannot be read: the change is asked for all the
 * same. Throws where the key is not accepted: the change would not be either, and what nobody may read nobody can look at.
 */
export async function stateBefore(
  target: RequestFacts['target'],
  input: Values,
  read: ReadBackParts['read'],
): Promise<string | undefined> {
  const { readBack = '', leadsTo } = target.row;
  try {
    const { [leadsTo?.field ?? '']: was } = await read(readBack, paramsOf({ target, input }));
    return typeof was === 'string' ? was : undefined;
  } catch (failed) {
    if (!(failed instanceof CliError) || failed.facts.httpStatus === 401) throw failed;
    return undefined;
  }
}

/** The parameters of the path, by which the resource is read. */
export function paramsOf({ target, input }: RequestFacts): Values {
  return Object.fromEntries(Object.keys(target.row.params ?? {}).map(name => [name, input[name]]));
}
