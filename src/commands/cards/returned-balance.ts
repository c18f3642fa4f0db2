/** Whether the balance of a terminated card came back to the wallet; others may use the wallet too. */
import type { Reader } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, dollars, toCents } from '../../core/money.ts';

/** Read just before a termination. */
export interface BeforeTermination {
  readonly onCard: Cents;
  readonly inWallet: Cents;
}

/** Undefined where it cannot be read: a termination does not wait for a remark. */
export async function beforeTermination(reader: Reader, cardId: string): Promise<BeforeTermination | undefined> {
  try {
    const [card, inWallet] = await Promise.all([reader.read('cards.get', { card_id: cardId }), walletNow(reader)]);
    return { onCard: toCents(card.balance), inWallet };
  } catch (thrown) {
    return unread(thrown);
  }
}

/** What became of the balance: `text` where the wallet grew by it, `note` where it did not; nothing for an empty card. */
export async function returnedBalance(
  reader: Reader,
  before: BeforeTermination | undefined,
): Promise<{ readonly text?: string; readonly note?: string }> {
  if (before === undefined || before.onCard <= 0) return {};
  const { onCard, inWallet } = before;
  const now = await walletNow(reader).catch(unread);
  if (now === undefined) return {};
  if (now - inWallet === onCard)
    return { text: `${dollars(onCard)} went back to the wallet, which holds ${dollars(now)}.` };
  const wallet = now === inWallet ? `still holds ${dollars(now)}` : `went from ${dollars(inWallet)} to ${dollars(now)}`;
  return {
    note: `note: the card held ${dollars(onCard)}, and the wallet ${wallet}. The balance may come later, and others may use the wallet: cardwright wallet`,
  };
}

async function walletNow(reader: Reader): Promise<Cents> {
  return toCents((await reader.read('wallet.get', {})).balance);
}

function unread(thrown: unknown): undefined {
  if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
  return undefined;
}
