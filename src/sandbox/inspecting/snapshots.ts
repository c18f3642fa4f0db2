/** snapshots.diff: what differs between two snapshots, or between one and now. Two copies of stores beside each other, asked by SQL. */
import { createReadStream } from 'node:fs';
import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin.ts';
import { type Cents, cents, toUsd } from '../../core/money.ts';
import type { Connection } from '../../engine/connection.ts';
import { checkTables, copyStore, Damaged, onStore } from '../archive/archives.ts';
import { isoTime } from '../rules/dates.ts';
import type { ServiceHandlers, ServiceParts } from '../service/service.ts';
import { ARCHIVED } from '../store/schema.ts';
import type { SqlRow } from '../store/sql.ts';

type Told = ReplyOf<AdminOperations['snapshots.diff']>;

export const DIFFERENCES = {
  'snapshots.diff': async (parts, { name, to }) => {
    try {
      return await inSnapshot(parts, name, before => {
        if (to !== undefined) return inSnapshot(parts, to, after => differences(before, after));
        return parts.archives.temporarily(async now => {
          await copyStore(parts.store, now);
          return differences(before, now);
        });
      });
    } catch (error) {
      if (error instanceof Damaged) return { problems: [error.message], tables: [], accounts: [], cards: [] };
      throw error;
    }
  },
} satisfies Partial<ServiceHandlers>;

async function inSnapshot<T>({ archives, store }: ServiceParts, name: string, work: (copy: string) => Promise<T>) {
  const file = await archives.fileOf(name);
  let isSound = false;
  try {
    return await archives.within(createReadStream(file), async path => {
      await onStore(path, copy => checkTables(copy, store));
      isSound = true;
      return work(path);
    });
  } catch (error) {
    if (isSound || !(error instanceof Damaged)) throw error;
    throw new Damaged(`the snapshot ${name} is damaged: ${error.message}`);
  }
}

const differences = (before: string, after: string): Promise<Told> =>
  onStore('memory', sides => {
    sides.prepare('attach ? as a').get(before);
    sides.prepare('attach ? as b').get(after);
    const tables = ARCHIVED.map(table => ({ table, ...countsOf(sides, table) }));
    return {
      problems: [],
      tables: tables.filter(({ added, removed, changed }) => added + removed + changed > 0),
      accounts: accountsMoved(sides),
      cards: cardsChanged(sides),
    };
  });

function countsOf(sides: Connection, table: string) {
  const columns = sides.prepare(`select name, pk from pragma_table_info('${table}')`).all() as {
    name: string;
    pk: number;
  }[];
  const keys = columns.filter(({ pk }) => pk > 0).map(({ name }) => name);
  // The key of transactions is an index apart.
  const isSame = (keys.length > 0 ? keys : ['id']).map(key => `x.${key} = y.${key}`).join(' and ');
  const alone = (side: string, other: string) =>
    `(select count(*) from ${side}.${table} x where not exists (select 1 from ${other}.${table} y where ${isSame}))`;
  return sides
    .prepare(`select ${alone('b', 'a')} as added, ${alone('a', 'b')} as removed,
      (select count(*) from (select * from a.${table} except select * from b.${table}) x
        where exists (select 1 from b.${table} y where ${isSame})) as changed`)
    .get() as { readonly added: number; readonly removed: number; readonly changed: number };
}

function accountsMoved(sides: Connection): Told['accounts'] {
  const rows = sides
    .prepare(`select ledger, sum(amount) as delta from (select ledger, amount from b.postings
      union all select ledger, -amount from a.postings) group by ledger having delta <> 0 order by ledger`)
    .all() as { readonly ledger: string; readonly delta: number }[];
  return rows.map(({ ledger, delta }) => ({ account: ledger, delta: toUsd(cents(delta)) }));
}

/** Columns of a card that nobody is shown by the way, and its text as it is sent, which says the same once more. */
const NOT_TOLD = ['number', 'cvv', 'document'];

const MONEY = ['balance', 'hold', 'spending_limit', 'auto_freeze_at'];

const TIMES = ['created_at', 'expires_at'];

function cardsChanged(sides: Connection): Told['cards'] {
  const ids = sides
    .prepare(`select id from (select * from a.cards except select * from b.cards)
      union select id from (select * from b.cards except select * from a.cards) order by id`)
    .all() as { readonly id: string }[];
  const [old, young] = ['a', 'b'].map(side => sides.prepare(`select * from ${side}.cards where id = ?`));
  return ids.map(({ id }) => {
    const [before, after] = [old?.get(id) as SqlRow | undefined, young?.get(id) as SqlRow | undefined];
    const fields = Object.keys(after ?? before ?? {})
      .filter(field => !NOT_TOLD.includes(field) && before?.[field] !== after?.[field])
      .map(field => ({ field, from: valueTold(before, field), to: valueTold(after, field) }));
    return { card_id: id, fields };
  });
}

/** JSON of the value; money in USD, times in ISO, lists and maps as they are stored. */
function valueTold(row: SqlRow | undefined, field: string): string | null {
  if (row === undefined) return null;
  const value = row[field] ?? null;
  if (typeof value === 'number' && MONEY.includes(field)) return JSON.stringify(toUsd(value as Cents));
  if (typeof value === 'string' && ['allowed_categories', 'metadata'].includes(field)) return value;
  if (typeof value === 'number' && TIMES.includes(field)) return JSON.stringify(isoTime(value));
  return JSON.stringify(value);
}
