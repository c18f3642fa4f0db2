/** cards.list, .get, .details, .freeze, .unfreeze, .terminate */
import type { CARD, FUNDING } from '../../contract/card.ts';
import type { CompleteOf } from '../../contract/field.ts';
import { LIMITS } from '../../contract/limits.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, plainAmount, toUsd } from '../../core/money.ts';
import { Secret } from '../../core/secret.ts';
import { afterDecrease, cardOf, changeStatus, livingCard, type Moved, moveOnCard, post } from '../account/ledger.ts';
import { cardDocument, wireCard } from '../account/wire.ts';
import { type AdminHandlers, type Call, encodedCard, found, type Handlers, Refused } from '../calls/handler.ts';
import { cardExpiry, isExpired } from '../rules/dates.ts';
import { isCategory } from '../rules/declines.ts';
import { cardNumber, FREE_DIGITS } from '../rules/money.ts';
import { type BinRow, binById, type CardRow, challengeById, insertCard, isNumberTaken } from '../store/account.ts';
import { conditions } from '../store/sql.ts';
import { ACCOUNT_HANDLERS, pageFacts } from './account.ts';

export const CARDS = {
  /** Newest first, as they are stored, which is as they are sent. */
  'cards.list': ({ sql, input }) => {
    const { page = LIMITS.page.defaults, per_page = LIMITS.pageSize.defaults } = input;
    const { where, values } = conditions({ 'status = ?': input.status, 'bin_id = ?': input.bin_id });
    const [count] = sql.known<{ total: number }>(`select count(*) as total from cards${where}`, ...values);
    const statement = `select document from cards${where} order by created_at desc, id desc limit ? offset ?`;
    const rows = sql.known<{ document: string }>(statement, ...values, per_page, (page - 1) * per_page);
    const data = rows.map(({ document }) => encodedCard(document));
    return { data, page: pageFacts(page, per_page, count?.total ?? 0) };
  },

  'cards.get': call => wireCard(cardOf(call, call.input.card_id)),

  /** Refused once terminated, when there is no code any more; an expired or frozen card may be looked at. */
  'cards.details': call => {
    const card = livingCard(call, call.input.card_id);
    const statement = 'select number, cvv from cards where id = ?';
    const secrets = call.sql.get<{ number: string; cvv: string | null }>(statement, card.id);
    if (secrets?.cvv == null) throw new CliError('internal', { message: `no security code stored for ${card.id}` });
    const expiry = new Date(card.expires_at);
    return {
      card_id: card.id,
      number: new Secret(secrets.number),
      cvv: new Secret(secrets.cvv),
      exp_month: expiry.getUTCMonth() + 1,
      exp_year: expiry.getUTCFullYear(),
    };
  },

  'cards.freeze': call => {
    const card = livingCard(call, call.input.card_id);
    if (card.status === 'frozen') throw new Refused('card_already_frozen', `card ${card.id} is frozen already`);
    return wireCard(changeStatus(call, card, 'frozen'));
  },

  'cards.unfreeze': call => {
    const card = livingCard(call, call.input.card_id);
    if (card.status === 'active') throw new Refused('card_not_frozen', `card ${card.id} is active, not frozen`);
    return wireCard(changeStatus(call, card, 'active'));
  },

  /** The available balance, below 0 too, goes to the wallet now; open holds stay and settle. */
  'cards.terminate': call => {
    const card = livingCard(call, call.input.card_id);
    const { balance } = card;
    const emptied =
      balance === 0
        ? { card }
        : moveOnCard(call, card, { kind: 'terminate', ref: card.id, moves: { card: -balance, wallet: balance } });
    const ended: CardRow = { ...emptied.card, status: 'terminated' };
    const { id, document } = cardDocument(ended);
    // Its security code is erased (docs/design/sandbox.md, section 10).
    call.sql.update('cards', { id }, { status: 'terminated', cvv: null, document });
    call.emit('card.terminated', wireCard(ended));
    return wireCard(ended);
  },

  /** Checks in the order of A-115: body, BIN, limit of the BIN, money. Creating below the line does not freeze. */
  'cards.create': call => {
    const { input } = call;
    refuseUnknownCategory(input.allowed_categories ?? []);
    const bin = binById(call.sql, input.bin_id);
    if (bin === undefined) throw new Refused('bin_not_found', `no BIN ${input.bin_id}`);
    const spendingLimit = monthlyLimit(bin, input.spending_limit);
    const wire = issue(call, bin, {
      balance: input.amount,
      spending_limit: spendingLimit,
      label: input.label ?? '',
      allowed_categories: JSON.stringify(input.allowed_categories ?? []),
      auto_freeze_at: input.auto_freeze_at ?? null,
      metadata: JSON.stringify(input.metadata ?? {}),
    });
    call.emit('card.created', wire);
    return wire;
  },

  'cards.fund': call => {
    const { amount } = call.input;
    const card = livingCard(call, call.input.card_id);
    if (isExpired(card, call.now)) throw new Refused('card_expired', `card ${card.id} has expired`);
    const moves = { wallet: -amount, card: amount };
    const moved = moveOnCard(call, card, { kind: 'fund', ref: card.id, moves, isCovered: true });
    call.emit('card.funded', wireCard(moved.card));
    return funding(moved, amount);
  },

  /** No event of its own; one that crosses the line freezes the card. */
  'cards.withdraw': call => {
    const { amount } = call.input;
    const card = livingCard(call, call.input.card_id);
    if (amount > card.balance) {
      throw new Refused(
        'insufficient_card_funds',
        `card ${card.id} holds ${plainAmount(card.balance)} USD, ${plainAmount(amount)} USD asked`,
      );
    }
    const moves = { card: -amount, wallet: amount };
    const moved = moveOnCard(call, card, { kind: 'withdraw', ref: card.id, moves });
    afterDecrease(call, moved.card);
    return funding(moved, amount);
  },
} satisfies Partial<Handlers>;

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
function issue(call: Call, bin: BinRow, options: Wishes): CompleteOf<typeof CARD> {
  const { sql, now, idSource } = call;
  const id = idSource.id('card');
  const { balance } = options;
  const moves = { wallet: -balance, card: balance };
  post(sql, { kind: 'create', ref: id, at: now, card: id, isOpening: true, isCovered: true, moves });
  const cvv = idSource.digits('cvv', 3);
  for (;;) {
    const number = cardNumber(bin.network, idSource.digits('number', FREE_DIGITS));
    // Ten thousand cards of one network meet by chance once in twenty stores: a number that is taken is drawn again.
    if (isNumberTaken(sql, number)) continue;
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
    insertCard(sql, { ...card, number, cvv, document });
    return wire;
  }
}

function funding({ card, wallet }: Moved, amount: Cents): CompleteOf<typeof FUNDING> {
  return {
    card_id: card.id,
    amount: toUsd(amount),
    card_balance: toUsd(card.balance),
    wallet_balance: toUsd(wallet),
  };
}

// cards.reveal, challenges.reveal: what is secret, shown in the page to whoever confirms that he means it.

export const REVEALS = {
  'cards.reveal': call => {
    const { last4 } = livingCard(call, call.input.card_id);
    if (last4 !== call.input.last4) {
      throw new Refused('invalid_request', 'last4: these are not the last four digits of this card');
    }
    const { number, cvv, exp_month, exp_year } = CARDS['cards.details'](call);
    return { number, cvv, exp_month, exp_year };
  },

  'challenges.reveal': ({ sql, input: { challenge_id: id } }) => ({
    otp: new Secret(found(challengeById(sql, id), 'challenge', id).otp),
  }),
} satisfies Partial<AdminHandlers>;

// Every operation of the service and the handler that serves it. A missing one does not compile.

export const HANDLERS: Handlers = { ...CARDS, ...ACCOUNT_HANDLERS };
