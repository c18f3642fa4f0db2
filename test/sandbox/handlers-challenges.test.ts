import { describe, expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { Refused } from '../../src/sandbox/calls/handler.ts';
import { DomainWorld } from '../support/domain-world.ts';

const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'not refused',
    error => (error instanceof Refused ? `${error.status} ${error.refusal}: ${error.message}` : error),
  );

async function withCard() {
  const world = await DomainWorld.open({ wallet: cents(200_000) });
  const { id: card_id } = await world.call('cards.create', { bin_id: await world.bin(), amount: cents(10_000) });
  world.told.length = 0;
  const authorize = (amount: number) =>
    world.admin('simulate.authorize', { card_id, amount: cents(amount), three_ds: 'challenge' });
  return { world, card_id, authorize };
}

describe('3DS', () => {
  const open = async (amount = 2_000) => {
    const made = await withCard();
    const opened = await made.authorize(amount);
    const answer = (word: 'right' | 'wrong') =>
      made.world.admin('simulate.answer', { challenge_id: String(opened['challenge_id']), answer: word });
    return { ...made, opened, answer };
  };

  test('a challenge is listed with its code and told; the right answer runs the authorization', async () => {
    const { world, opened, answer, card_id } = await open();
    expect(opened).toMatchObject({ outcome: 'challenged', challenge_id: 'tds_1', card_balance: 100 });
    const { data } = await world.call('challenges.list', { card_id });
    expect(data).toEqual([
      {
        id: 'tds_1',
        card_id,
        merchant: 'COFFEE SHOP',
        amount: 20,
        otp: expect.stringMatching(/^\d{6}$/),
        status: 'pending',
        expires_at: '2026-11-20T14:05:00Z',
      },
    ]);
    expect(world.told).toEqual([{ event: '3ds.challenge', data: data[0] }]);
    expect(await answer('right')).toMatchObject({ outcome: 'approved', authorization_id: 'txn_1', card_balance: 80 });
    expect((await world.call('challenges.list', {})).data).toEqual([]);
    expect(await refused(answer('right'))).toBe(
      '409 invalid_request: challenge tds_1 is approved, not pending: it takes no answer',
    );
  });

  test('the third wrong code declines the authorization', async () => {
    const { answer } = await open();
    expect(await answer('wrong')).toMatchObject({ outcome: 'open' });
    expect(await answer('wrong')).toMatchObject({ outcome: 'open', events: [] });
    expect(await answer('wrong')).toMatchObject({ outcome: 'declined', decline_reason: 'three_ds_failed' });
    expect(await refused(answer('right'))).toContain('is failed');
  });

  test('a challenge runs out after 300 s, not before', async () => {
    const { world, answer } = await open();
    await world.advance(299_999);
    expect((await world.call('challenges.list', {})).data).toHaveLength(1);
    await world.advance(1);
    expect((await world.call('challenges.list', {})).data).toEqual([]);
    const { data } = await world.call('transactions.list', {});
    expect(data).toMatchObject([{ type: 'decline', decline_reason: 'three_ds_failed' }]);
    expect(await refused(answer('right'))).toContain('is expired');
  });

  test('a card frozen meanwhile declines after the right code', async () => {
    const { world, answer, card_id } = await open();
    await world.call('cards.freeze', { card_id });
    expect((await world.call('challenges.list', {})).data).toHaveLength(1);
    expect(await answer('right')).toMatchObject({ outcome: 'declined', decline_reason: 'card_frozen' });
  });

  test('on a card that is not active it fails at once, and the authorization with it', async () => {
    const { world, card_id, authorize } = await withCard();
    await world.call('cards.freeze', { card_id });
    world.told.length = 0;
    expect(await authorize(100)).toMatchObject({ decline_reason: 'card_frozen' });
    expect(world.events()).toEqual(['transaction.declined']);
    const alone = await world.admin('simulate.challenge', { card_id, amount: cents(100) });
    expect(alone).toMatchObject({ outcome: 'failed', events: [] });
  });

  test('a challenge alone moves nothing; filters find by card, and pending only', async () => {
    const { world, card_id } = await withCard();
    const { challenge_id } = await world.admin('simulate.challenge', { card_id, amount: cents(100) });
    const count = async (input: Parameters<typeof world.call<'challenges.list'>>[1]) =>
      (await world.call('challenges.list', input)).data.length;
    expect([await count({}), await count({ status: 'pending', card_id })]).toEqual([1, 1]);
    expect([await count({ card_id: 'card_x' }), await count({ status: 'approved' })]).toEqual([0, 0]);
    const right = await world.admin('simulate.answer', { challenge_id: String(challenge_id), answer: 'right' });
    expect(right).toMatchObject({ outcome: 'approved', events: [], card_balance: 100 });
    expect(right).not.toHaveProperty('transaction_id');
    expect(await refused(world.admin('simulate.answer', { challenge_id: 'tds_x', answer: 'right' }))).toContain('404');
  });
});
