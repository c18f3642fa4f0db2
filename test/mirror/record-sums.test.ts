/** Sums of a copy against all its records. */
import { expect, it } from 'vitest';
import { addUp, type RecordSums } from '../../src/books/records.ts';
import type { TxChangeRow } from '../../src/books/rows.ts';
import type { KeptCheckpoint } from '../../src/mirror/file.ts';
import { allRows, recordSums } from '../../src/mirror/record-sums.ts';
import { isWhole } from '../support/whole.ts';
import { MovingService } from './moving-service.ts';
import { syncing } from './syncing.ts';

/** What of it judges: sums of the cards, and what records show by themselves, in an order of its own. */
function told({ cards, remarks, unlisted, fresh, hasChangingRecords }: RecordSums) {
  const asText = (each: object) => JSON.stringify(each);
  const moved = [...cards].filter(([, { settled, refunded, holds }]) => settled + refunded + holds > 0);
  return {
    cards: moved.sort(([a], [b]) => (a < b ? -1 : 1)),
    remarks: remarks.map(asText).sort(),
    unlisted: unlisted.map(asText).sort(),
    fresh: fresh.map(asText).sort(),
    hasChangingRecords,
  };
}

/**
 * What is read of a large account are sums of SQLite and the purchases that moved: over the life of one moving service
 * they must be what all records say. Each of so many rounds is compared from every checkpoint before it.
 */
async function expectSumsOfAllRecords(seed: number, rounds: number): Promise<void> {
  const service = new MovingService(seed, { deletes: true, backdates: true, otherCurrencies: true, steps: 3 });
  service.live(150, 3_600_000);
  await using world = await syncing(service);
  const checkpoints: (KeptCheckpoint | undefined)[] = [undefined];
  for (let round = 0; round < rounds; round += 1) {
    await world.mirror.sync();
    service.live(20, 3_600_000);
    using copy = await world.mirror.read();
    const { db } = copy;
    for (const from of checkpoints) {
      const since = from?.at_ms;
      const changes =
        from === undefined
          ? []
          : db.all<TxChangeRow>(
              'select tx_id, field, old, new, max(seen, ? + 1) as seen from record_change where rowid > ?',
              ...[from.at_ms, from.changes],
            );
      const ended = new Map([['card_1', 0]]);
      expect(told(recordSums(db, from, { changes, ended }))).toEqual(
        told(addUp(allRows(db, from), { since, changes, ended })),
      );
    }
    const { n } = db.get<{ n: number | null }>('select max(rowid) as n from record_change') ?? { n: 0 };
    const checkpoint = { at_ms: db.number('as_of'), sync: db.number('finished_sync'), changes: n ?? 0 };
    checkpoints.push(checkpoint as KeptCheckpoint);
  }
}

it.each(Array.from({ length: isWhole ? 12 : 1 }, (_, at) => at + 1))(
  'sums of SQLite are those of all records, service %i',
  seed => expectSumsOfAllRecords(seed, isWhole ? 5 : 3),
);
