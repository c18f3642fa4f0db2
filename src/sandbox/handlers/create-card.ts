/** cards.create */
import type { CARD } from '../../contract/card.ts';
import type { CompleteOf } from '../../contract/field.ts';
import { type Cents, plainAmount } from '../../core/money.ts';
import { post } from '../account/ledger.ts';
import { cardDocument } from '../account/objects.ts';
import { type Call, type Handlers, Refused } from '../calls/handler.ts';
import { cardNumber, FREE_DIGITS } from '../rules/card-numbers.ts';
import { isCategory } from '../rules/categories.ts';
import { cardExpiry } from '../rules/dates.ts';
import { type BinRow, binById } from '../store/bins.ts';
import { type CardRow, insertCard } from '../store/cards.ts';

/** Checks in the order of A-115: body, BIN, limit of the BIN, money. Creating below the line does not freeze. */
export const createCard: Handlers['cards.create'] = async call => {
  const { input } = call;
  refuseUnknownCategory(input.allowed_categories ?? []);
  const bin = await binById(call.sql, call.account, input.bin_id);
  if (bin === undefined) throw new Refused('bin_not_found', `no BIN ${input.bin_id}`);
  const spendingLimit = monthlyLimit(bin, input.spending_limit);
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
  CardRow,
  'balance' | 'spending_limit' | 'label' | 'allowed_categories' | 'auto_freeze_at' | 'metadata'
>;

/** Posts what is put on the card, which the wallet must hold, and makes it; resolves to the card as it is sent. */
async function issue(call: Call, bin: BinRow, options: Wishes): Promise<CompleteOf<typeof CARD>> {
  const { sql, account, now, idSource } = call;
  const id = await idSource.id('card');
  const { balance } = options;
  const moves = { wallet: -balance, card: balance };
  await post(sql, { account, kind: 'create', ref: id, at: now, card: id, isOpening: true, isCovered: true, moves });
  const cvv = await idSource.digits('cvv', 3);
  for (;;) {
    const number = cardNumber(bin.network, await idSource.digits('number', FREE_DIGITS));
    // Field by field: a copy with more fields than its origin costs the engine ten times as much.
    const card: CardRow = {
      id,
      bin_id: bin.id,
      network: bin.network,
      last4: number.slice(-4),
      status: 'active',
      balance,
      hold: 0 as Cents,
      spending_limit: options.spending_limit,
      label: options.label,
      allowed_categories: options.allowed_categories,
      auto_freeze_at: options.auto_freeze_at,
      metadata: options.metadata,
      created_at: now,
      expires_at: cardExpiry(now),
    };
    const { document, wire } = cardDocument(card);
    // Ten thousand cards of one network meet by chance once in twenty stores: a number that is taken is drawn again.
    if ((await insertCard(sql, account, { card, number, cvv, document })) > 0) return wire;
  }
}
