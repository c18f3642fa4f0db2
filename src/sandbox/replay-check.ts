/** I13 as stored answers show it: each answer that is repeated for a key has its effect, and no two share one. */
import { centsOf } from '../money.ts';
import type { Sql } from './store/sql.ts';

interface Stored {
  readonly scope: string;
  readonly body: string;
}

/** What an answer says was done: kind of entry, card, and cents that went to the card or from it. */
interface Effect {
  readonly kind: 'create' | 'fund' | 'withdraw';
  readonly card: string;
  readonly amount: number;
}

export async function replayFaults(sql: Sql, account: string): Promise<string[]> {
  const rows = await sql.all<Stored>(
    `select scope, body from idempotency
     where account_id = ? and state = 'done' and status between 200 and 299 order by scope`,
    account,
  );
  const claims = new Map<string, { effect: Effect; scopes: string[] }>();
  for (const row of rows) {
    const effect = effectOf(row);
    if (effect === undefined) continue;
    const key = `${effect.kind} ${effect.card} ${effect.amount}`;
    const known = claims.get(key) ?? { effect, scopes: [] };
    known.scopes.push(row.scope);
    claims.set(key, known);
  }
  const faults: string[] = [];
  for (const { effect, scopes } of claims.values()) {
    const found = await sql.get<{ total: number }>(
      `select count(*) as total from entries e
         join postings p on p.account_id = e.account_id and p.entry_id = e.id and p.ledger = ? and p.amount = ?
       where e.account_id = ? and e.kind = ? and e.ref = ?`,
      `card:${effect.card}`,
      effect.kind === 'withdraw' ? -effect.amount : effect.amount,
      account,
      effect.kind,
      effect.card,
    );
    if ((found?.total ?? 0) < scopes.length) faults.push(...scopes);
  }
  return faults.length === 0 ? [] : [`I13 every stored answer has its own effect: ${faults.slice(0, 5).join(', ')}`];
}

const ROUTE = /^POST \/v1\/cards(?:\/[^/ ]+\/(fund|withdraw))? /;

/** Nothing for answers of other operations. */
function effectOf({ scope, body }: Stored): Effect | undefined {
  const route = ROUTE.exec(scope);
  if (route === null) return undefined;
  const said = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const kind = (route[1] as 'fund' | 'withdraw' | undefined) ?? 'create';
  const card = kind === 'create' ? said['id'] : said['card_id'];
  const usd = kind === 'create' ? said['balance'] : said['amount'];
  const amount = typeof usd === 'number' ? centsOf(usd) : undefined;
  return typeof card === 'string' && amount !== undefined ? { kind, card, amount } : undefined;
}
