import { describe, expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { post } from '../../src/sandbox/account/ledger.ts';
import { ACCOUNT } from '../../src/sandbox/store/schema.ts';
import { DomainWorld } from '../support/domain-world.ts';
import { ignoreChecks } from '../support/test-store.ts';

async function spentWorld() {
  const world = await DomainWorld.open({ wallet: cents(50_000) });
  const card = await world.call('cards.create', { bin_id: await world.bin(), amount: cents(10_000) });
  const held = await world.admin('simulate.authorize', { card_id: card.id, amount: cents(4_000) });
  const authorization_id = String(held['authorization_id']);
  await world.admin('simulate.settle', { authorization_id, amount: cents(1_500), final: false });
  await world.admin('simulate.refund', { authorization_id, amount: cents(500) });
  return world;
}

describe('post', () => {
  const about = { at: 1, kind: 'fund', ref: 'r' } as const;

  test.each([
    ['does not sum to 0', { wallet: -100, adjust: 99 }],
    ['moves one account', { wallet: 0, adjust: 0 }],
    ['moves nothing', {}],
  ])('an entry that %s is a bug and leaves nothing behind', async (_, moves) => {
    const world = await DomainWorld.open({ wallet: cents(500) });
    await expect(world.change(({ sql }) => post(sql, { ...about, moves }))).rejects.toThrow(/not a balanced entry/);
    expect(await world.faults()).toEqual([]);
  });

  test('a hold cannot fall below 0', async () => {
    const world = await spentWorld();
    const entry = { ...about, card: 'card_1', moves: { hold: -2_501, card: 2_501 } };
    await expect(world.change(({ sql }) => post(sql, entry))).rejects.toThrow(/CHECK|constraint/i);
    expect(await world.faults()).toEqual([]);
  });

  test('accounts are named as documented, entries are numbered without a gap', async () => {
    const world = await spentWorld();
    const postings = await world.read(sql =>
      sql.all('select entry_id, ledger, amount from postings order by entry_id, ledger'),
    );
    expect(postings).toEqual([
      { entry_id: 1, ledger: 'ext:adjust', amount: -50_000 },
      { entry_id: 1, ledger: `wallet:${ACCOUNT}`, amount: 50_000 },
      { entry_id: 2, ledger: 'card:card_1', amount: 10_000 },
      { entry_id: 2, ledger: `wallet:${ACCOUNT}`, amount: -10_000 },
      { entry_id: 3, ledger: 'card:card_1', amount: -4_000 },
      { entry_id: 3, ledger: 'hold:card_1', amount: 4_000 },
      { entry_id: 4, ledger: 'ext:network', amount: 1_500 },
      { entry_id: 4, ledger: 'hold:card_1', amount: -1_500 },
      { entry_id: 5, ledger: 'card:card_1', amount: 500 },
      { entry_id: 5, ledger: 'ext:network', amount: -500 },
    ]);
  });
});

describe('checkLedger', () => {
  test.each([
    ['I1', "update postings set amount = 9000 where entry_id = 2 and ledger like 'card%'"],
    ['I1', "delete from postings where entry_id = 5 and ledger like 'card%'"],
    ['I1', "insert into entries (id, kind, ref, created_at) values (99, 'fund', 'r', 1)"],
    ['I2', 'update wallets set balance = balance + 1'],
    ['I2', 'update wallets set spent = spent - 1'],
    ['I2', 'update wallets set deposited = deposited + 1'],
    ['I2', 'update cards set balance = balance - 1'],
    ['I2', 'update cards set hold = hold + 1'],
    ['I3', "update postings set amount = 9000 where entry_id = 2 and ledger like 'card%'"],
    ['I4', "update transactions set held = held - 1 where type = 'authorization'"],
    ['I5', 'update cards set balance = -1'],
    ['I5', 'update wallets set balance = -1'],
    ['I6', "update cards set status = 'terminated'"],
    ['I7', "update transactions set released = 1 where type = 'authorization'"],
    ['I8', "update transactions set status = 'expired' where type = 'authorization'"],
    ['I9', "update transactions set refunded = settled + 1 where type = 'authorization'"],
    ['I9', "delete from transactions where type = 'refund'"],
    ['I10', 'update wallets set deposited = deposited + 1'],
  ])('%s is found after: %s', async (id, damage) => {
    const world = await spentWorld();
    expect(await world.faults()).toEqual([]);
    // The tables themselves refuse most of these; damage comes from elsewhere.
    await world.store.write(ignoreChecks);
    await world.change(({ sql }) => sql.run(damage));
    const found = (await world.faults()).map(fault => fault.split(' ')[0]);
    expect(found).toContain(id);
  });
});
