/** I13 as stored answers show it: each answer that is repeated for a key has its effect, and no two share one. */
import { centsOf } from '../../core/money.ts';
import type { Sql } from '../store/sql.ts';

interface Stored {
  readonly scope: string;
  readonly body: string;
}

export async function replayFaults(sql: Sql, account: string): Promise<string[]> {
  const rows = await sql.all<Stored>(
    `select scope, body from idempotency
     where account_id = ? and state = 'done' and status between 200 and 299 order by scope`,
    account,
  );
  // As many as the store has entries: not read to be held against nothing.
  if (rows.length === 0) return [];
  const left = await effects(sql, account);
  const faults: string[] = [];
  for (const row of rows) {
    const effect = effectOf(row);
    if (effect === undefined) continue;
    const count = left.get(effect) ?? 0;
    if (count === 0) faults.push(row.scope);
    left.set(effect, count - 1);
  }
  return faults.length === 0 ? [] : [`I13 every stored answer has its own effect: ${faults.slice(0, 5).join(', ')}`];
}

/** What was done, and how often: kind of entry, card, and cents that went to the card or from it. */
async function effects(sql: Sql, account: string): Promise<Map<string, number>> {
  const rows = await sql.all<{ kind: string; ref: string; amount: number; times: number }>(
    `select e.kind, e.ref, p.amount, count(*) as times from entries e
       join postings p on p.account_id = e.account_id and p.entry_id = e.id and p.ledger = 'card:' || e.ref
     where e.account_id = ? and e.kind in ('create', 'fund', 'withdraw') group by e.kind, e.ref, p.amount`,
    account,
  );
  return new Map(rows.map(({ kind, ref, amount, times }) => [`${kind} ${ref} ${Math.abs(amount)}`, times]));
}

const ROUTE = /^POST \/v1\/cards(?:\/[^/ ]+\/(fund|withdraw))? /;

/** What an answer says was done; nothing for answers of other operations. */
function effectOf({ scope, body }: Stored): string | undefined {
  const route = ROUTE.exec(scope);
  if (route === null) return undefined;
  const said = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const kind = route[1] ?? 'create';
  const card = kind === 'create' ? said['id'] : said['card_id'];
  const usd = kind === 'create' ? said['balance'] : said['amount'];
  const amount = typeof usd === 'number' ? centsOf(usd) : undefined;
  return typeof card === 'string' && amount !== undefined ? `${kind} ${card} ${amount}` : undefined;
}
