/** A wallet that is said to be too low for what is done all the same: a resume gives its row no second effect. */
import { expect, test } from 'vitest';
import { refusal } from '../support/hostile-service.ts';
import { arena, TEST_KEY } from './arena.ts';

const FILES = {
  create: 'bin_id,amount,label\nbin_1,25,one\nbin_1,26,two\n',
  fund: 'card_id,amount\ncard_1,25\ncard_2,26\n',
} as const;

test.each(['create', 'fund'] as const)('%s', async operation => {
  await using here = await arena();
  await using place = await here.enter('unknown', 'test');
  here.service.reset({ [TEST_KEY]: { cards: [{}, {}] } });
  const play = { effect: 'done', answer: refusal(400, 'insufficient_funds') } as const;
  here.service.script({ operation, where: ({ body }) => body['amount'] === 26, plays: [play] });
  const first = await place.run(`cards ${operation} --file -`, FILES[operation]);
  expect(first.code).toBe(9);
  const op = /"op":"(op_\w+)"/.exec(first.err)?.[1] ?? '';
  const resumed = await place.run(`ops resume ${op}`);
  const { effects } = here.service.books(TEST_KEY);
  // The marker proves a card, the balance of the card a transfer.
  expect([effects.map(({ cents }) => cents), resumed.code]).toEqual([[2_500, 2_600], 0]);
});
