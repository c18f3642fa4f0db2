/** Small accounts made by hand: which card, which record and which row a finding names, and which it leaves out. */
import { expect, it } from 'vitest';
import type { Reconciled } from '../../src/books/reconcile.ts';
import type { TxRow } from '../../src/books/rows.ts';
import { Account, type Card, type Counting, Reader } from './model.ts';

/** An account with an exact first checkpoint, and what reads it. */
function begun(prepare: (account: Account) => void = () => undefined, counting: Counting = {}) {
  const account = new Account(counting);
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
  expect(Object.values(JSON.parse(done.checkpoint.counted_rows))).toEqual([card.id]);
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

it('a missing settlement may be of every card whose holds hide it', () => {
  const { account, reader } = begun();
  const [one, other, little, empty] = [100_00, 100_00, 100_00, 100_00].map(amount => account.create(amount));
  if (one === undefined || other === undefined || little === undefined) throw new RangeError('no cards');
  const of = account.authorize(one, 80_00);
  account.authorize(other, 50_00);
  account.authorize(little, 19_99);
  const settlement = account.settle(of, 20_00, false);
  reader.lies.push(({ records }) => void records.delete(settlement));
  const [missing] = reader.reconcile().findings;
  expect(missing).toMatchObject({ class: 'record_missing', cents: -20_00, candidates: [one.id, other.id] });
  expect(missing?.candidates).not.toContain(empty?.id);
});

it('where purchases are changing records a fee is a fee, and a changed purchase is none', () => {
  const account = new Account({ oneRecord: true });
  account.deposit(1_000_00);
  const card = account.create(100_00);
  const of = account.authorize(card, 30_00);
  account.settle(of, 30_00, true);
  const reader = new Reader(account);
  reader.reconcile();
  account.tick();
  account.refund(of, 10_00);
  card.balance -= 3_00;
  account.record('fee', card.id, 3_00);
  expect(said(reader.reconcile())).toEqual([['fee', -3_00, card.id]]);
});

it.each([
  { effect: 'before the first checkpoint', isIn: true },
  { effect: 'after it', isIn: false },
])(
  'a row of unknown outcome that is resolved as done had its effect $effect, and nobody else moved anything',
  ({ isIn }) => {
    const cards: Card[] = [];
    const { account, reader } = begun(made => {
      const card = made.create(100_00);
      cards.push(card);
      if (isIn) made.fund(card, 25_00, { outcome: 'unknown' });
      else made.nothing(card.id, 25_00);
    });
    const [card] = cards;
    if (card === undefined) throw new RangeError('no card');
    if (!isIn) {
      card.balance += 25_00;
      account.wallet -= 25_00;
    }
    account.moves.splice(
      0,
      account.moves.length,
      ...account.moves.map(move => ({ ...move, outcome: 'done' as const })),
    );
    const done = reader.reconcile({ soleOperator: true });
    expect({ verdict: done.verdict, said: said(done) }).toEqual({ verdict: 'balanced', said: [] });
    expect(done.changes.map(({ funded, residual }) => [funded, residual])).toEqual([[isIn ? 0 : 25_00, 0]]);
  },
);

it.each([
  { wallet: -1, found: [['total_differs', 1, '']] },
  { wallet: 0, found: [] },
  { wallet: 30_00, found: [] },
  { wallet: 30_01, found: [['total_differs', -30_01, '']] },
])(
  'a first checkpoint lets holds explain what the totals lack, and no cent more: $wallet more in the wallet',
  ({ wallet, found }) => {
    const { reader } = begun(account => {
      account.authorize(account.create(100_00), 30_00);
      account.wallet += wallet;
    });
    const [first] = reader.checkpoints;
    expect(first && said(first)).toEqual(found);
    expect(first?.verdict).toBe(found.length === 0 ? 'baseline' : 'unexplained');
  },
);

it('a settlement and a refund of one amount that were listed late are named once, and the books go on', () => {
  const { account, reader } = begun();
  const [one, other] = [account.create(100_00), account.create(100_00)];
  const old = account.authorize(other, 20_00);
  account.settle(old, 20_00, true);
  reader.reconcile();
  account.tick();
  const late = [account.forcePost(one, 20_00), account.refund(old, 20_00)];
  const hide = ({ records }: { records: Map<string, TxRow> }) => {
    for (const id of late) records.delete(id);
  };
  reader.lies.push(hide as never);
  expect(reader.reconcile().verdict).toBe('balanced');
  reader.lies.pop();
  const shown = reader.reconcile();
  expect(said(shown).filter(([name]) => name === 'listed_late')).toEqual([
    ['listed_late', 20_00, one.id],
    ['listed_late', -20_00, other.id],
  ]);
  expect([shown.verdict, shown.checkpoint.exact]).toEqual(['balanced', 1]);
  const after = reader.reconcile();
  expect([after.verdict, said(after)]).toEqual(['balanced', []]);
});
