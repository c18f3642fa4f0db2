/**
 * A machine that has worked alone joins a shared journal: what it has not finished is refused, and the names of its finished
 * purchases come along, so that a name that was used stays used.
 */
import { CliError } from '../core/errors.ts';
import { type Acting, findAccount, journalId } from './account.ts';
import { appendLine, outcomeDigest, plannedDigest } from './chain.ts';
import type { Database, SqlRow, SqlValue } from './database.ts';

export interface Joining {
  readonly acting: Acting;
  /** The account in the shared journal, and the print of the API key there. */
  readonly account: string;
  readonly print: string;
  readonly printOf: (salt: string) => Promise<string>;
}

/** Throws `guarded` (14) for operations of this machine that are not finished; nothing was copied then. */
export async function joinJournal(shared: Database, local: Database | undefined, joining: Joining): Promise<void> {
  if (local === undefined) return;
  const { acting, account, print, printOf } = joining;
  const ownPrint = await printOf(await local.read(journalId));
  const found = await local.read(async tx => {
    const own = await findAccount(tx, acting, ownPrint);
    if (own === undefined) return undefined;
    const unfinished = await tx.all<{ id: string }>(
      "select id from op where account = ? and (state <> 'finished' or acknowledged is null) order by created",
      own,
    );
    if (unfinished.length > 0) throw notFinished(unfinished.map(({ id }) => id));
    const named = 'select op from intent where account = ?';
    return {
      ops: await tx.all(`select * from op where id in (${named})`, own),
      changes: await tx.all(`select * from change where op in (${named})`, own),
      intents: await tx.all('select * from intent where account = ?', own),
    };
  });
  if (found === undefined || found.intents.length === 0) return;
  await shared.transaction(async tx => {
    await tx.all(`select id from account where id = ?${shared.lock}`, account);
    const there = await tx.all<{ name: string; op: string }>('select name, op from intent where account = ?', account);
    const taken = new Set(there.map(({ name }) => name));
    const known = new Set(there.map(({ op }) => op));
    const intents = found.intents.filter(({ name }) => !taken.has(String(name)));
    const wanted = new Set(intents.map(({ op }) => String(op)).filter(op => !known.has(op)));
    const ops = found.ops.filter(({ id }) => wanted.has(String(id))).map(op => ({ ...op, account, key_print: print }));
    await insertAll('op', ops);
    await insertAll(
      'change',
      found.changes.filter(({ op }) => wanted.has(String(op))),
    );
    await insertAll(
      'intent',
      intents.map(intent => ({ ...intent, account, key_print: print })),
    );
    for (const op of wanted) {
      const text = 'brought by a machine that worked alone before';
      await appendLine(tx, account, { event: 'begun', op, changes: await plannedDigest(tx, op), text });
      await appendLine(tx, account, { event: 'finished', op, outcome: await outcomeDigest(tx, op) });
    }
    async function insertAll(table: string, rows: readonly SqlRow[]): Promise<void> {
      const columns = Object.keys(rows[0] ?? {});
      if (rows.length > 0)
        await tx.insert(
          table,
          columns,
          rows.map(row => columns.map(name => row[name] as SqlValue)),
        );
    }
  });
}

function notFinished(ops: readonly string[]): CliError {
  const [first] = ops;
  const others = ops.length === 1 ? '' : ` and ${ops.length - 1} more`;
  return new CliError('guarded', {
    message: `this machine has operations of its own that are not finished: ${first}${others}. Nothing was sent`,
    notes: ['Finish them before it uses the shared journal, so that nobody does them a second time:'],
    reason: 'not_finished_here',
    hint: `cardwright ops resume ${first} --journal local`,
    outcome: 'not_sent',
    ...(first !== undefined && { op: first }),
  });
}
