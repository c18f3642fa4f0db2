/** Small accounts made by hand: which card, which record and which row a finding names, and which it leaves out. */
import { expect, it } from 'vitest';
import type { Reconciled } from '../../src/books/reconcile.ts';
import { Account, type Card, Reader } from './model.ts';

/** An account with an exact first cut, and what reads it. */
function begun(prepare: (account: Account) => void = () => undefined) {
  const account = new Account();
  account.deposit(1_000_00);
  prepare(account);
  const reader = new Reader(account);
  reader.reconcile();
  account.tick();
  return { account, reader };
}

const said = ({ findings }: Reconciled) =>
  findings.map(each => [each.class, each.cents, [...each.candidates].sort().join(' ')]);

it('a card that an unknown row made is its card, also when a row of ours has funded it since', () => {
  const { account, reader } = begun();
  const card = account.create(20_00, { outcome: 'unknown' });
  account.fund(card, 5_00);
  const done = reader.reconcile();
  expect(said(done)).toEqual([['unknown_row_done', 20_00, card.id]]);
  expect(Object.values(JSON.parse(done.cut.counted_rows))).toEqual([card.id]);
});

it('a row that made no card, as far as anybody sees, explains nothing', () => {
  const { account, reader } = begun();
  account.move('cards.create', null, 20_00, 'unknown');
  account.wallet -= 20_00;
  expect(said(reader.reconcile())).toEqual([['wallet_unexplained', -20_00, '']]);
});

it('a missing settlement names the authorization that it settles, and no record of another card', () => {
  const { account, reader } = begun();
  const [one, other] = [account.create(50_00), account.create(50_00)];
  const tipped = account.authorize(other, 10_00, { mcc: '5812' });
  account.settle(tipped, 12_00, true);
  const missing = account.authorize(one, 30_00);
  const settlement = account.settle(missing, 30_00, true);
  // Unusual on the same card, and listed.
  account.settle(account.authorize(one, 3_00, { mcc: '5812' }), 3_50, true);
  reader.lies.push(({ records }) => void records.delete(settlement));
  const found = reader.reconcile().findings.find(each => each.class === 'record_missing');
  expect(found).toMatchObject({ cents: -30_00, candidates: [one.id], records: [missing.id] });
});

it('what ended cards released is said of those that held something, and of no card that still lives', () => {
  const { account, reader } = begun();
  const [ended, empty, living] = [account.create(50_00), account.create(50_00), account.create(50_00)];
  const of = account.authorize(ended, 30_00);
  account.authorize(living, 20_00);
  account.terminate(ended);
  account.terminate(empty);
  account.reverse(of, 12_00);
  expect(said(reader.reconcile())).toEqual([['hold_released', 12_00, ended.id]]);
});

it('of several funded cards the one that hides it behind a hold is named, and no ended card', () => {
  const cards: Card[] = [];
  const { account, reader } = begun(made => {
    for (let nth = 0; nth < 4; nth += 1) cards.push(made.create(100_00));
    // Before the books begin nobody knows how much of this is held still.
    const [, , , ended] = cards;
    if (ended === undefined) throw new RangeError('no card');
    made.authorize(ended, 10_00);
    made.terminate(ended);
  });
  const [one, two, hiding] = cards;
  if (one === undefined || two === undefined || hiding === undefined) throw new RangeError('no cards');
  account.authorize(hiding, 50_00);
  account.fund(one, 10_00, { own: false });
  account.fund(two, 20_00, { own: false });
  account.fund(hiding, 7_00, { own: false });
  const found = said(reader.reconcile()).filter(([name]) => name === 'other_funded');
  expect(found).toEqual([
    ['other_funded', 10_00, one.id],
    ['other_funded', 20_00, two.id],
    ['other_funded', 7_00, hiding.id],
  ]);
});
