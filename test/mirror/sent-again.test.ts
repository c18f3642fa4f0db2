import { expect, it } from 'vitest';
import { openForSync } from '../../src/mirror/file.ts';
import { statementRows } from '../../src/mirror/statement-rows.ts';
import { MovingService } from './moving-service.ts';
import { syncing } from './syncing.ts';

it('an own row that was sent again after a checkpoint had counted it stands on the day it was first sent', async () => {
  const service = new MovingService(3);
  service.moves = false;
  const [first, counted, again] = ['2026-10-28', '2026-10-29', '2026-11-03'].map(day => Date.parse(`${day}T09:00:00Z`));
  let move = {
    ...{ op: 'op_1', row: 1, operation: 'cards.fund', card_id: 'card_1', cents: 5_00 as never },
    at_ms: first ?? 0,
  };
  let [outcome, last_at]: ['unknown' | 'done', string] = ['unknown', '2026-10-28T09:00:00Z'];
  await using world = await syncing(service, {
    ownOperations: async () => [
      {
        op: 'op_1',
        last_at,
        rows: async () => ({ isMine: true, isHere: true, rows: [{ ...move, outcome } as never] }),
      },
    ],
  });
  await world.mirror.sync();
  move = { ...move, at_ms: again ?? 0 };
  [outcome, last_at] = ['done', '2026-11-03T09:00:00Z'];
  await world.mirror.sync();
  const db = openForSync({ path: world.mirror.path, platform: process.platform });
  const dated = () => statementRows(db, { name: 'all', from: 0, to: again ?? 0 }).moves.map(({ at_ms }) => at_ms);
  const insert = `insert into checkpoint values (?, ?, 1, 0, '[]', 0, 0, 0, 0, ?, 1, 0)`;
  db.run(insert, 'cut_0', (counted ?? 0) - 1, '{}');
  db.run(insert, 'cut_2', (again ?? 0) + 1, '{"op_1.1":"card_1"}');
  expect(dated()).toEqual([again]);
  db.run(insert, 'cut_1', counted ?? 0, '{"op_1.1":"card_1"}');
  expect(dated()).toEqual([first]);
  db.close();
});

it('a card with the marker of an own row is of that row, though the clock of the service was set ahead', async () => {
  const service = new MovingService(3);
  service.moves = false;
  const [at, DAY] = [service.now, 86_400_000];
  const metadata = { cardwright: 'op_1.1' };
  service.cards.push({ id: 'card_ahead', status: 'active', cents: 9_00, label: 'lost', at: at + DAY, metadata });
  const made = { op: 'op_1', row: 1, operation: 'cards.create', card_id: 'card_ahead', cents: 9_00 as never };
  const rows = [{ ...made, at_ms: at, outcome: 'done' } as never];
  // Another profile of the same account has made it, at another address.
  const read = async () => ({ isMine: false, isHere: false, rows });
  await using world = await syncing(service, {
    ownOperations: async () => [{ op: 'op_1', last_at: new Date(at).toISOString(), rows: read }],
  });
  await world.mirror.sync();
  using copy = await world.mirror.read();
  expect(copy.db.all('select op, card_id from move')).toEqual([{ op: 'op_1', card_id: 'card_ahead' }]);
});
