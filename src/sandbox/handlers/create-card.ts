/** cards.create */
import type { CARD } from '../../contract/card.ts';
import type { CompleteOf } from '../../contract/field.ts';
import { type Cents, plainAmount } from '../../money.ts';
import type { Act } from '../acting.ts';
import { type Call, type Handlers, Refused } from '../handler.ts';
import { post } from '../ledger.ts';
import { cardDocument } from '../objects.ts';
import { cardNumber, FREE_DIGITS } from '../rules/card-numbers.ts';
import { isCategory } from '../rules/categories.ts';
import { cardExpiry } from '../rules/dates.ts';
import { type BinRow, binById } from '../store/bins.ts';
import { type CardRow, insertCard, type NewCard } from '../store/cards.ts';
import { walletOf } from '../store/wallet.ts';

/** Checks in the order of A-115: body, BIN, limit of the BIN, money. Creating below the line does not freeze. */
export const createCard: Handlers['cards.create'] = async call => {
  const { input } = call;
  refuseUnknownCategory(input.allowed_categories ?? []);
  const bin = await binById(call.sql, call.account, input.bin_id);
  if (bin === undefined) throw new Refused('bin_not_found', `no BIN ${input.bin_id}`);
  const spendingLimit = monthlyLimit(bin, input.spending_limit);
  await refuseShortWallet(call, input.amount);
  const wire = await issue(call, bin, {
    balance: input.amount,
    spending_limit: spendingLimit,
    label: input.label ?? '',
    allowed_categories: JSON.stringify(input.allowed_categories ?? []),
    auto_freeze_at: input.auto_freeze_at ?? null,
    metadata: JSON.stringify(input.metadata ?? {}),
  });
  await call.emit('card.created', wire);
  return wire;
};

/** Throws `insufficient_funds` when the wallet holds less than asked. */
export async function refuseShortWallet({ sql, account }: Pick<Act, 'sql' | 'account'>, asked: Cents): Promise<void> {
  const there = (await walletOf(sql, account))?.balance ?? (0 as Cents);
  if (there >= asked) return;
  throw new Refused(
    'insufficient_funds',
    `the wallet holds ${plainAmount(there)} USD, ${plainAmount(asked)} USD asked`,
  );
}

function refuseUnknownCategory(categories: readonly string[]): void {
  const unknown = categories.find(entry => !isCategory(entry));
  if (unknown === undefined) return;
  throw new Refused(
    'invalid_request',
    `allowed_categories: ${JSON.stringify(unknown)} is neither a four-digit MCC nor a known category`,
  );
}

/** the default is the maximum. */
function monthlyLimit(bin: BinRow, asked: Cents | undefined): Cents {
  if (asked === undefined || asked <= bin.max_monthly) return asked ?? bin.max_monthly;
  throw new Refused(
    'invalid_request',
    `spending_limit: ${plainAmount(asked)} USD is above the ${plainAmount(bin.max_monthly)} USD of BIN ${bin.id}`,
  );
}

type Wishes = Pick<
  NewCard,
  'balance' | 'spending_limit' | 'label' | 'allowed_categories' | 'auto_freeze_at' | 'metadata'
>;

/** Makes the card and posts what is put on it; resolves to the card as it is sent. */
async function issue(call: Call, bin: BinRow, wishes: Wishes): Promise<CompleteOf<typeof CARD>> {
  const { sql, account, now, chance } = call;
  const facts = {
    ...wishes,
    id: await chance.id('card'),
    bin_id: bin.id,
    network: bin.network,
    created_at: now,
    expires_at: cardExpiry(now),
  };
  const cvv = await chance.digits('cvv', 3);
  for (;;) {
    const number = cardNumber(bin.network, await chance.digits('number', FREE_DIGITS));
    const row: CardRow = { ...facts, last4: number.slice(-4), status: 'active', hold: 0 as Cents };
    const { document, wire } = cardDocument(row);
    // Ten thousand cards of one network meet by chance once in twenty stores: a number that is taken is drawn again.
    if ((await insertCard(sql, account, { ...facts, number, cvv, document })) === 0) continue;
    const { id, balance } = row;
    const moves = { wallet: -balance, card: balance };
    await post(sql, { account, kind: 'create', ref: id, at: now, card: id, isOpening: true, moves });
    return wire;
  }
}
