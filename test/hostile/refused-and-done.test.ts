/** A wallet that is said to be too low for what is done all the same: no way of going on gives it a second effect. */
import { expect, test } from 'vitest';
import { READ_LAG } from '../../src/contract/spans.ts';
import { refusal } from '../support/card-books.ts';
import { errorOf } from '../support/world.ts';
import { arena, TEST_KEY } from './arena.ts';

const FILES = {
  create: 'bin_id,amount,label\nbin_1,25,one\nbin_1,26,two\n',
  fund: 'card_id,amount\ncard_1,25\ncard_2,26\n',
} as const;

test.each(['create', 'fund'] as const)('%s', async operation => {
  await using here = await arena();
  await using place = await here.enter('unknown', 'test', { cards: [{}, {}] });
  const play = { effect: 'done', answer: refusal(400, 'insufficient_funds') } as const;
  here.service.script({ operation, where: ({ body }) => body['amount'] === 26, plays: [play] });
  const first = await place.run(`cards ${operation} --file -`, FILES[operation]);
  // A fund that was refused moved the balance of its card, and the list of cards shows the marker: neither is told as a plain no.
  expect(first.code).toBe(operation === 'fund' ? 11 : 15);
  const { op } = errorOf(first);
  const resumed = await place.run(`ops resume ${op}`);
  const { effects } = here.service.books(TEST_KEY);
  // The marker proves a card, the balance of the card a transfer.
  expect([effects.map(({ cents }) => cents), resumed.code]).toEqual([[2_500, 2_600], operation === 'fund' ? 0 : 15]);
});

test.each(['invalid_request', 'bin_not_found'])('a row that is refused with %s is one of the list', async word => {
  await using here = await arena();
  await using place = await here.enter('unknown', 'test', { cards: [{}, {}] });
  const play = { effect: 'done', answer: refusal(word === 'bin_not_found' ? 404 : 400, word) } as const;
  here.service.script({ operation: 'create', where: ({ body }) => body['amount'] === 26, plays: [play] });
  const first = await place.run('cards create --file -', FILES.create);
  expect([first.code, /row 2 was refused, and made all the same: card_\w+/.test(first.err)]).toEqual([15, true]);
  const { op } = errorOf(first);
  const { items } = JSON.parse((await place.run(`ops show ${op}`)).out);
  expect(items.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['done', 'done']);
});

test('a wallet that has moved by the amount speaks against a refusal, where no list shows the card', async () => {
  await using here = await arena();
  await using place = await here.enter('unknown', 'test', { cards: [{}] });
  const play = { effect: 'done', answer: refusal(400, 'insufficient_funds') } as const;
  here.service.script({ operation: 'create', where: () => true, plays: [play] });
  const line = 'api POST /cards -f bin_id=bin_1 -F amount:=26 --intent raw-1 --yes';
  const [first, again] = [await place.run(line), await place.run(line)];
  expect([first.code, again.code, here.service.books(TEST_KEY).effects.length]).toEqual([11, 11, 1]);
  // A person who calls it not done frees a cap against the same evidence.
  const { op } = errorOf(first);
  const resolved = await place.run(`ops resolve ${op} --as not-done --note x`);
  expect([resolved.code, resolved.err.includes('may be done')]).toEqual([14, true]);
});

test.each(['terminate', 'freeze'] as const)(
  '%s that is refused behind the deed is read, and no definite no',
  async action => {
    await using here = await arena();
    await using place = await here.enter('unknown', 'test', { cards: [{}] });
    const play = { effect: 'done', answer: refusal(400, 'invalid_request') } as const;
    here.service.script({ operation: action, where: () => true, plays: [play] });
    expect((await place.run(`cards ${action} card_1 --yes`)).code).toBe(0);
  },
);

test('the usual mistakes are refused without waiting, also just behind a change of this journal', async () => {
  await using here = await arena();
  await using place = await here.enter('unknown', 'test', { cards: [{}] });
  expect((await place.run('cards fund card_1 --amount 5')).code).toBe(0);
  const begun = here.clock.waited();
  const mistakes = [
    ['cards withdraw card_1 --amount 4000', 6],
    ['cards fund card_nope --amount 5', 5],
    ['cards create --bin bin_nope --amount 5', 5],
  ] as const;
  for (const [line, code] of mistakes) expect([line, (await place.run(line)).code]).toEqual([line, code]);
  // The limit is above that of the BIN.
  here.service.script({
    operation: 'create',
    where: () => true,
    plays: [{ effect: 'none', answer: refusal(400, 'invalid_request') }],
  });
  expect((await place.run('cards create --bin bin_1 --amount 5 --spending-limit 9999999')).code).toBe(6);
  expect(here.clock.waited() - begun).toBe(0);
});

// What an honest refusal costs: nothing where a reading before the change explains it.
test.each([
  ['cards create --bin bin_1 --amount 2600', 10, 0],
  ['cards create --bin bin_9 --amount 26', 5, 0],
  ['cards fund card_1 --amount 2600', 10, 0],
  ['cards withdraw card_1 --amount 2600', 6, 0],
  ['cards fund card_9 --amount 26', 5, 0],
  ['cards fund card_2 --amount 26', 6, 0],
  ['cards freeze card_2', 6, 0],
  ['cards freeze card_9', 5, 0],
  ['cards create --bin bin_1 --amount 26 --label refused', 6, READ_LAG],
  ['cards fund card_1 --amount 26', 6, READ_LAG],
] as const)('an honest refusal of %s: %i behind %i ms', async (line, code, ms) => {
  await using here = await arena();
  await using place = await here.enter('unknown', 'test', { cards: [{}, { status: 'terminated' }] });
  const play = { effect: 'none', answer: refusal(422, 'invalid_request') } as const;
  for (const operation of ['create', 'fund'] as const)
    here.service.script({ operation, where: ({ body }) => ms > 0 && body['amount'] === 26, plays: [play] });
  const before = here.clock.waited();
  const ended = await place.run(line);
  expect([ended.code, here.clock.waited() - before], ended.err).toEqual([code, ms]);
});
