/** Money onto a card and back to the wallet. */
import { columnsOf } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import type { Result } from '../../contract/calls.ts';
import { FUNDING } from '../../contract/card.ts';
import type { Reader } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, dollars, toCents } from '../../core/money.ts';
import type { Block } from '../../terminal/view.ts';
import type { UsedIntent } from '../../writes/single-write.ts';
import { card, money } from './cards.ts';
import { idempotencyKey, intent, intentNamed, purpose, purposeGiven, repeatedLines, withIntent } from './create.ts';

const FUNDING_COLUMNS = columnsOf(FUNDING, {
  card_id: { priority: 1 },
  amount: { priority: 2 },
  card_balance: { priority: 1 },
  wallet_balance: { priority: 1 },
});

interface Balances {
  readonly card: number;
  readonly wallet: number;
}

/** Card and wallet just before the money moves. */
async function balancesBefore(reader: Reader, cardId: string): Promise<Balances> {
  const [card, wallet] = await Promise.all([
    reader.read('cards.get', { card_id: cardId }),
    reader.read('wallet.get', {}),
  ]);
  return { card: card.balance, wallet: wallet.balance };
}

interface Moved {
  readonly result: Result<'cards.fund'>;
  readonly before: Balances | undefined;
  readonly reread: boolean;
  readonly intent?: UsedIntent;
}

function movedBlocks(verb: string, { result, before, reread, intent }: Moved): readonly Block[] {
  const change = (was: number | undefined, now: number) =>
    was === undefined ? money(now) : `${money(was)} -> ${money(now)}`;
  return [
    ...repeatedLines(intent),
    { kind: 'line', text: `${verb} ${result.card_id ?? 'the card'}: ${money(result.amount)}.` },
    {
      kind: 'pairs',
      pairs: [
        ['Card', change(before?.card, result.card_balance)],
        ['Wallet', change(before?.wallet, result.wallet_balance)],
        ...(reread ? ([['Balances', 'read again after the answer']] as const) : []),
      ],
    },
  ];
}

export const fundCard = command({
  path: 'cards fund',
  summary: 'Move money from the wallet to a card',
  about: [
    '--where chooses every card that meets the conditions, as cards list does, and --to is the balance that each card is filled up to. A card that changed in the meantime is not filled above it. The cards are shown and confirmed first. Running the same command again moves nothing twice.',
  ],
  operation: 'cards.fund',
  bulk: {},
  args: { card },
  flags: { amount: 'body.amount', intent, purpose, idempotencyKey },
  examples: [
    { does: 'Top up a card by $25', run: 'cards fund card_1 --amount 25' },
    { does: 'Look first', run: 'cards fund card_1 --amount 25 --dry-run' },
    { does: 'Bring every card below $30 to $50', run: "cards fund --to 50 --where 'balance<30' --yes" },
  ],
  run: (ctx, { card, amount, intent: name, purpose: why, idempotencyKey: key }) =>
    ctx.api.write(
      'cards.fund',
      { card_id: card, amount },
      {
        key,
        intentName: intentNamed(name),
        purpose: purposeGiven(why),
        intent: `Move ${dollars(amount)} from the wallet to ${card}`,
        ...(ctx.ui.forPeople && { before: (reader: Reader) => balancesBefore(reader, card) }),
      },
    ),
  show: moved => ({
    data: withIntent(moved.result, moved.intent),
    noun: 'funding',
    idField: 'card_id',
    columns: FUNDING_COLUMNS,
    blocks: movedBlocks('Funded', moved),
  }),
});

/** Read just before a termination. */
interface BeforeTermination {
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
  examples: [
    { does: 'Take $5 back', run: 'cards withdraw card_1 --amount 5' },
    { does: 'See the request first', run: 'cards withdraw card_1 --amount 5 --dry-run' },
    { does: 'Leave $10 on every card that holds more', run: "cards withdraw --to 10 --where 'balance>10' --yes" },
  ],
  run: (ctx, { card, amount, intent: name, idempotencyKey: key }) =>
    ctx.api.write(
      'cards.withdraw',
      { card_id: card, amount },
      {
        key,
        intentName: intentNamed(name),
        intent: `Move ${dollars(amount)} from ${card} back to the wallet`,
        ...(ctx.ui.forPeople && { before: (reader: Reader) => balancesBefore(reader, card) }),
      },
    ),
  show: moved => ({
    data: withIntent(moved.result, moved.intent),
    noun: 'withdrawal',
    idField: 'card_id',
    columns: FUNDING_COLUMNS,
    blocks: movedBlocks('Withdrew from', moved),
  }),
});
