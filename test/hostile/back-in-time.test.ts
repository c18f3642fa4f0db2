/**
 * Readings come from replicas, so that what was read once may not be read again: of two equal or opposite transfers within seconds none
 * is taken for the other. And a create that carries no marker, or whose marker is not shown, has the wallet alone to speak for it.
 */
import { expect, test } from 'vitest';
import { type BookOptions, type Books, refusal, type WriteOperation } from '../support/card-books.ts';
import type { Play, SeenRequest } from '../support/hostile-service.ts';
import { arena, TEST_KEY } from './arena.ts';

interface Case {
  readonly first: string;
  readonly second: string;
  /** What the second one is at the service, and what becomes of it. */
  readonly operation: WriteOperation;
  readonly play: Play;
  readonly account?: BookOptions;
  /** The answer to the first one is lost, and a person says that it is done. */
  readonly isResolved?: boolean;
  /** Between the two; and when the second one arrives. */
  readonly between?: (books: Books<SeenRequest>) => void;
  readonly meanwhile?: (books: Books<SeenRequest>) => void;
}

const LOST: Play = { effect: 'none', answer: { lost: 'before-headers' } };
const REFUSED: Play = { effect: 'done', answer: refusal(400, 'invalid_request') };

function falls(books: Books<SeenRequest>): void {
  books.options = { ...books.options, behind: { cardMs: 8_000, walletMs: 8_000 } };
}

function catchesUp(books: Books<SeenRequest>): void {
  books.options = { ...books.options, behind: {} };
}

const LATE_BEFORE = { between: falls, meanwhile: catchesUp };
const LATE_AFTER = { meanwhile: falls };

const [fund, withdraw] = ['cards fund card_1 --amount 5', 'cards withdraw card_1 --amount 5'];
const [create, bare] = ['cards create --bin bin_1 --amount 5', 'api POST /cards -f bin_id=bin_1 -F amount:=5'];

/** A success that looks as it should, and nothing was done. */
const FORGED: Play = {
  effect: 'none',
  answer: ({ card = {}, asked: { amount }, books }) => {
    const [by, now] = [Number(amount), Number(card['balance'])];
    const balances = { card_balance: now + by, wallet_balance: books.walletCents / 100 - by };
    return { status: 200, body: { card_id: card['id'], amount, ...balances } };
  },
};

const CASES: Readonly<Record<string, Case>> = {
  'a withdrawal is lost, and the card shows as before it was funded': {
    first: fund,
    second: withdraw,
    operation: 'withdraw',
    play: LOST,
    ...LATE_AFTER,
  },
  'a fund is refused behind the deed, and the withdrawal before it shows late': {
    first: withdraw,
    second: fund,
    operation: 'fund',
    play: REFUSED,
    ...LATE_BEFORE,
  },
  'a fund is forged, and the card shows as before the withdrawal': {
    first: withdraw,
    second: fund,
    operation: 'fund',
    play: FORGED,
    ...LATE_AFTER,
  },
  'a fund is lost behind one that a person has called done, which shows late': {
    first: fund,
    isResolved: true,
    second: fund,
    operation: 'fund',
    play: LOST,
    ...LATE_BEFORE,
  },
  'a bare create is refused behind the deed, and what was terminated shows late': {
    first: 'cards terminate card_2',
    second: bare,
    operation: 'create',
    play: REFUSED,
    ...LATE_BEFORE,
  },
  'a bare create is refused behind the deed': {
    first: 'wallet',
    second: bare,
    operation: 'create',
    play: REFUSED,
  },
  'a bare create is refused behind the deed, and somebody pays in as much': {
    first: fund,
    second: bare,
    operation: 'create',
    play: REFUSED,
    meanwhile: books => books.setWallet(books.walletCents + 500),
  },
  'a create is refused behind the deed where no marker is shown, and somebody pays in': {
    first: 'wallet',
    second: create,
    operation: 'create',
    play: REFUSED,
    account: { metadata: 'nowhere' },
    meanwhile: books => books.setWallet(books.walletCents + 300),
  },
};

test.each(Object.entries(CASES))('%s', async (_, each) => {
  const { first, second, operation, play, account, isResolved, between, meanwhile } = each;
  await using here = await arena();
  await using place = await here.enter('unknown', 'test', { cards: [{}, { cents: 500 }], ...account });
  const books = here.service.books(TEST_KEY);
  const count = () => books.effects.filter(effect => effect.operation === operation).length;
  if (isResolved) {
    // It is done when nobody looks any more.
    here.service.script({ operation, plays: [{ effect: { afterMs: 12_000 }, answer: { lost: 'before-headers' } }] });
    const { op } = JSON.parse((await place.run(first)).err).error;
    here.clock.pass(4_000);
    expect((await place.run('wallet')).code).toBe(0);
    expect((await place.run(`ops resolve ${op} --as done --note seen`)).code).toBe(0);
  } else expect((await place.run(first)).code).toBe(0);
  const before = count();
  between?.(books);
  const where = () => {
    meanwhile?.(books);
    return true;
  };
  here.service.script({ operation, where, plays: [play] });
  const { code } = await place.run(second);
  expect(count() > before ? [0, 11] : [4, 5, 6, 7, 10, 11, 12, 14]).toContain(code);
});
