/** The golden history of docs/design/sandbox.md, section 8, to the cent. */
import { expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { DAY, DomainWorld } from '../support/domain-world.ts';

interface Row {
  readonly step: string;
  readonly run: (world: DomainWorld, ids: Map<string, string>) => Promise<unknown>;
  readonly wallet: number;
  readonly cards: readonly number[];
  readonly holds: number;
  readonly spent: number;
  readonly status: readonly string[];
  readonly events: readonly string[];
}

const keep = async (ids: Map<string, string>, name: string, made: Promise<Readonly<Record<string, unknown>>>) => {
  const reply = await made;
  const id = reply['authorization_id'] ?? reply['deposit_id'] ?? reply['id'];
  if (typeof id === 'string') ids.set(name, id);
};
const idOf = (ids: Map<string, string>, name: string) => ids.get(name) ?? `no ${name}`;
const dollars = (amount: number) => cents(Math.round(amount * 100));

const authorize = (card: string, amount: number, name: string): Row['run'] => {
  return (world, ids) =>
    keep(ids, name, world.admin('simulate.authorize', { card_id: idOf(ids, card), amount: dollars(amount) }));
};
const settle = (name: string, amount: number): Row['run'] => {
  return (world, ids) =>
    world.admin('simulate.settle', { authorization_id: idOf(ids, name), amount: dollars(amount), final: true });
};
const refund = (name: string, amount: number): Row['run'] => {
  return (world, ids) => world.admin('simulate.refund', { authorization_id: idOf(ids, name), amount: dollars(amount) });
};
const terminate = (card: string): Row['run'] => {
  return (world, ids) => world.call('cards.terminate', { card_id: idOf(ids, card) });
};

const A = ['active'] as const;
const F = ['frozen'] as const;
const T = ['terminated'] as const;
const TA = ['terminated', 'active'] as const;
const TT = ['terminated', 'terminated'] as const;

const HISTORY: readonly Row[] = [
  {
    step: '1 deposit 1000.00 detected',
    run: (world, ids) =>
      keep(ids, 'deposit', world.admin('simulate.deposit', { currency: 'usdt', amount: dollars(1000) })),
    ...{ wallet: 0, cards: [], holds: 0, spent: 0, status: [], events: ['deposit.pending'] },
  },
  {
    step: '2 confirmed',
    run: (world, ids) => world.admin('simulate.confirm', { deposit_id: idOf(ids, 'deposit') }),
    ...{ wallet: 1000, cards: [], holds: 0, spent: 0, status: [], events: ['deposit.confirmed'] },
  },
  {
    step: '3 create A 100.00, auto_freeze_at 20.00',
    run: async (world, ids) =>
      keep(
        ids,
        'A',
        world.call('cards.create', {
          bin_id: await world.bin(),
          amount: dollars(100),
          auto_freeze_at: dollars(20),
        }),
      ),
    ...{ wallet: 900, cards: [100], holds: 0, spent: 0, status: A, events: ['card.created'] },
  },
  {
    step: '4 A: authorize 30.00',
    run: authorize('A', 30, 'first'),
    ...{ wallet: 900, cards: [70], holds: 30, spent: 0, status: A, events: ['transaction.authorized'] },
  },
  {
    step: '5 A: settle 28.00, final',
    run: settle('first', 28),
    ...{ wallet: 900, cards: [72], holds: 0, spent: 28, status: A, events: ['transaction.settled'] },
  },
  {
    step: '6 A: refund 10.00 of it',
    run: refund('first', 10),
    ...{ wallet: 900, cards: [82], holds: 0, spent: 18, status: A, events: ['transaction.refunded'] },
  },
  {
    step: '7 A: authorize 65.00',
    run: authorize('A', 65, 'second'),
    ...{ wallet: 900, cards: [17], holds: 65, spent: 18, status: F },
    events: ['transaction.authorized', 'card.frozen'],
  },
  {
    step: '8 A: authorize 1.00',
    run: authorize('A', 1, 'declined'),
    ...{ wallet: 900, cards: [17], holds: 65, spent: 18, status: F, events: ['transaction.declined'] },
  },
  {
    step: '9 A: fund 5.00',
    run: (world, ids) => world.call('cards.fund', { card_id: idOf(ids, 'A'), amount: dollars(5) }),
    ...{ wallet: 895, cards: [22], holds: 65, spent: 18, status: F, events: ['card.funded'] },
  },
  {
    step: '10 A: terminate',
    run: terminate('A'),
    ...{ wallet: 917, cards: [0], holds: 65, spent: 18, status: T, events: ['card.terminated'] },
  },
  {
    step: '11 A: settle 70.00 (5.00 over)',
    run: settle('second', 70),
    ...{ wallet: 912, cards: [0], holds: 0, spent: 88, status: T, events: ['transaction.settled'] },
  },
  {
    step: '12 A: refund 70.00',
    run: refund('second', 70),
    ...{ wallet: 982, cards: [0], holds: 0, spent: 18, status: T, events: ['transaction.refunded'] },
  },
  {
    step: '13 create B 20.00; authorize 15.00',
    run: async (world, ids) => {
      await keep(ids, 'B', world.call('cards.create', { bin_id: await world.bin(), amount: dollars(20) }));
      await authorize('B', 15, 'third')(world, ids);
    },
    ...{ wallet: 962, cards: [0, 5], holds: 15, spent: 18, status: TA },
    events: ['card.created', 'transaction.authorized'],
  },
  {
    step: '14 clock +7 d: expires',
    run: world => world.advance(7 * DAY),
    ...{ wallet: 962, cards: [0, 20], holds: 0, spent: 18, status: TA, events: [] },
  },
  {
    step: '15 B: late settlement 25.00',
    run: settle('third', 25),
    ...{ wallet: 962, cards: [0, -5], holds: 0, spent: 43, status: TA, events: ['transaction.settled'] },
  },
  {
    step: '16 B: terminate',
    run: terminate('B'),
    ...{ wallet: 957, cards: [0, 0], holds: 0, spent: 43, status: TT, events: ['card.terminated'] },
  },
];

test('the golden history, row by row', async () => {
  const world = await DomainWorld.open();
  const ids = new Map<string, string>();
  for (const [index, row] of HISTORY.entries()) {
    await row.run(world, ids);
    const wallet = await world.call('wallet.get', {});
    const cards = await world.read(sql =>
      sql.all<{ status: string; balance: number; hold: number }>('select status, balance, hold from cards order by id'),
    );
    expect({
      step: row.step,
      wallet: wallet.balance,
      deposited: wallet.total_deposited,
      cards: cards.map(card => card.balance / 100),
      holds: cards.reduce((sum, card) => sum + card.hold, 0) / 100,
      spent: wallet.total_spent,
      status: cards.map(card => card.status),
      events: world.events(),
      faults: await world.faults(),
    }).toEqual({
      step: row.step,
      wallet: row.wallet,
      deposited: index === 0 ? 0 : 1000,
      cards: row.cards,
      holds: row.holds,
      spent: row.spent,
      status: row.status,
      events: row.events,
      faults: [],
    });
  }
});
