/** Money onto a card and back to the wallet. */

import type { Context, Shown } from '../../cli/context.ts';
import { columnsOf } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { FUNDING } from '../../contract/card.ts';
import type { Reader } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, dollars, toCents } from '../../core/money.ts';
import { pairsBlock } from '../../terminal/view.ts';
import { card, money } from './cards.ts';
import { doneLine, idempotencyKey, intent, intentNamed, purpose, purposeGiven, withIntent } from './create.ts';

const FUNDING_COLUMNS = columnsOf(FUNDING, 'card_id amount:2 card_balance wallet_balance', { card_id: 'CARD ID' });

type Balances = Awaited<ReturnType<typeof balances>>;

/** Of card and wallet, USD. */
async function balances(reader: Reader, cardId: string) {
  const [card, wallet] = await Promise.all([
    reader.read('cards.get', { card_id: cardId }),
    reader.read('wallet.get', {}),
  ]);
  return { card: card.balance, wallet: wallet.balance };
}

interface Transfer {
  readonly card: string;
  readonly amount: Cents;
  readonly intent: string | undefined;
  readonly purpose?: string | undefined;
  readonly idempotencyKey: string | undefined;
}

function transfer(
  ctx: Context,
  operation: 'cards.fund' | 'cards.withdraw',
  { card, amount, intent: name, purpose, idempotencyKey: key }: Transfer,
  intent: string,
) {
  const before = ctx.ui.forPeople && { before: (reader: Reader) => balances(reader, card) };
  const options = { key, intentName: intentNamed(name), purpose: purposeGiven(purpose), intent, ...before };
  return ctx.api.write(operation, { card_id: card, amount }, options);
}

function transferView(
  noun: string,
  verb: string,
  { result, before, reread, intent }: Awaited<ReturnType<typeof transfer>>,
): Shown {
  const change = (was: number | undefined, now: number) =>
    was === undefined ? money(now) : `${money(was)} -> ${money(now)}`;
  return {
    data: withIntent(result, intent),
    noun,
    idField: 'card_id',
    columns: FUNDING_COLUMNS,
    blocks: [
      doneLine(intent, `${verb} ${result.card_id ?? 'the card'}: ${money(result.amount)}.`),
      pairsBlock([
        ['Card', change(before?.card, result.card_balance)],
        ['Wallet', change(before?.wallet, result.wallet_balance)],
        ...(reread ? ([['Balances', 'read again after the answer']] as const) : []),
      ]),
    ],
  };
}

export const fundCard = command({
  path: 'cards fund',
  summary: 'Move money from the wallet to a card',
  about:
    '--where chooses every card that meets the conditions, as cards list does, and --to is the balance that each card is filled up to. A card that changed in the meantime is not filled above it. The cards are shown and confirmed first. Running the same command again moves nothing twice.',
  operation: 'cards.fund',
  bulk: {},
  args: { card },
  flags: { amount: 'body.amount', intent, purpose, idempotencyKey },
  examples: {
    'Top up a card by $25': 'cards fund card_1 --amount 25',
    'Look first': 'cards fund card_1 --amount 25 --dry-run',
    'Bring every card below $30 to $50': "cards fund --to 50 --where 'balance<30' --yes",
  },
  run: (ctx, input) =>
    transfer(ctx, 'cards.fund', input, `Move ${dollars(input.amount)} from the wallet to ${input.card}`),
  show: moved => transferView('funding', 'Funded', moved),
});

/** Read just before a termination. Undefined where it cannot be read: a termination does not wait for a remark. */
export function beforeTermination(reader: Reader, cardId: string): Promise<Balances | undefined> {
  return balances(reader, cardId).catch(unread);
}

/** What became of the balance: `text` where the wallet grew by it, `note` where it did not; nothing for an empty card. */
export async function returnedBalance(
  reader: Reader,
  before: Balances | undefined,
): Promise<{ readonly text?: string; readonly note?: string }> {
  if (before === undefined || before.card <= 0) return {};
  const [onCard, inWallet] = [toCents(before.card), toCents(before.wallet)];
  const wallet = await reader.read('wallet.get', {}).catch(unread);
  if (wallet === undefined) return {};
  const now = toCents(wallet.balance);
  if (now - inWallet === onCard)
    return { text: `${dollars(onCard)} went back to the wallet, which holds ${dollars(now)}.` };
  const says = now === inWallet ? `still holds ${dollars(now)}` : `went from ${dollars(inWallet)} to ${dollars(now)}`;
  return {
    note: `note: the card held ${dollars(onCard)}, and the wallet ${says}. The balance may come later, and others may use the wallet: cardwright wallet`,
  };
}

function unread(thrown: unknown): undefined {
  if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
  return undefined;
}

export const withdrawCard = command({
  path: 'cards withdraw',
  summary: 'Move money from a card back to the wallet',
  about: [
    'When the balance falls below the auto-freeze amount of the card, the card freezes.',
    '--where and --idle choose cards, and --to is the balance that each card is brought down to.',
  ],
  operation: 'cards.withdraw',
  bulk: {},
  args: { card },
  flags: { amount: 'body.amount', intent, idempotencyKey },
  examples: {
    'Take $5 back': 'cards withdraw card_1 --amount 5',
    'See the request first': 'cards withdraw card_1 --amount 5 --dry-run',
    'Leave $10 on every card that holds more': "cards withdraw --to 10 --where 'balance>10' --yes",
  },
  run: (ctx, input) =>
    transfer(ctx, 'cards.withdraw', input, `Move ${dollars(input.amount)} from ${input.card} back to the wallet`),
  show: moved => transferView('withdrawal', 'Withdrew from', moved),
});
