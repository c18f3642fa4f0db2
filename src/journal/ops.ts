/** Operations as `ops list` and `ops show` tell them, what a person decides about their rows, and what others ask of the journal. */
import { isoSeconds } from '../core/durations.ts';
import type { CliError } from '../core/errors.ts';
import { cents } from '../core/money.ts';
import { rowsNamed } from '../core/row-words.ts';
import { appendLine } from './chain.ts';
import { addEvent, lockedOp, unknownOp, writeFinished, writeSettled } from './changes.ts';
import { workedOn } from './claim.ts';
import { type Database, type Reading, sql } from './database.ts';
import { hostOf, type Self, whoWorks } from './holder.ts';
import { type Change, type Op, opOf, readChanges, readOp } from './records.ts';
import type { Closing, OpDetail, OpState, OpSummary, Resolution, Resolved } from './types.ts';
import { opError } from './words.ts';

/** Every op, or those of one account; newest first. */
export function summaries(database: Database, self: Self, account?: string): Promise<readonly OpSummary[]> {
  return database.read(tx => summariesOf(tx, self, account === undefined ? {} : { account }));
}

async function summariesOf(
  tx: Reading,
  self: Self,
  { account, id }: { readonly account?: string; readonly id?: string },
): Promise<readonly OpSummary[]> {
  const [inner, outer] = [
    id === undefined ? sql`` : sql`where op = ${id}`,
    account === undefined ? sql`` : sql`where o.account = ${account}`,
  ];
  const rows = await tx.all(
    sql`select o.*, c.* from op o ${id === undefined ? sql`left` : sql``} join (
      select op as counted, count(*) as n,
        count(case when state = 'done' then 1 end) as n_done,
        count(case when state = 'refused' or (state = 'planned' and error like '%"insufficient_funds"%') then 1 end) as n_refused,
        count(case when state in ('sent', 'unknown') then 1 end) as n_unknown,
        count(case when state = 'not_sent' or (state = 'planned' and error is not null and error not like '%"insufficient_funds"%') then 1 end) as n_not_sent,
        count(case when state = 'planned' and error is null then 1 end) as n_open,
        count(case when state = 'planned' then 1 end) as n_planned,
        sum(amount) as cents
      from change ${inner} group by op) c on c.counted = o.id ${outer} order by o.created desc, o.id desc`,
  );
  const now = await tx.now();
  return rows.map(row => {
    const op = opOf(row);
    const isWorked = whoWorks(op, self, now) !== 'nobody';
    const number = (name: string) => Number(row[name] ?? 0);
    return {
      op: op.id,
      command: op.command,
      started_at: isoSeconds(op.created),
      last_at: isoSeconds(op.touched),
      profile: op.profile,
      mode: op.mode,
      origin: op.origin,
      state: stateOf(op, isWorked, {
        unknown: number('n_unknown'),
        planned: number('n_planned'),
        isSent: number('n_not_sent') < number('n'),
      }),
      rows: number('n'),
      counts: {
        done: number('n_done'),
        refused: number('n_refused'),
        unknown: number('n_unknown'),
        not_sent: number('n_not_sent'),
        open: number('n_open'),
      },
      cents: cents(number('cents')),
      movesMoney: op.movesMoney,
      heldBy: {
        holder: op.holder.slice(0, op.holder.indexOf('@')),
        host: hostOf(op.holder),
        leftMs: isWorked ? Math.max(0, op.lease - now) : 0,
      },
    };
  });
}

/** Stands before who has rejected an op and why, among its objections. */
export const REJECTED = 'rejected: ';

/** `rejected: by bo: why`; undefined for an op that nobody has rejected. */
export function rejectionOf({ objections: [first] }: Pick<Op, 'objections'>): string | undefined {
  return first?.startsWith(REJECTED) === true ? first : undefined;
}

function stateOf(
  op: Op,
  isWorked: boolean,
  { unknown, planned, isSent }: { unknown: number; planned: number; isSent: boolean },
): OpState {
  if (op.state === 'pending') return 'pending';
  if (rejectionOf(op) !== undefined) return 'rejected';
  if (op.state === 'finished') {
    if (op.acknowledged === undefined && !isWorked) return 'unacknowledged';
    return isSent ? 'finished' : 'not_sent';
  }
  if (isWorked) return 'running';
  return unknown > 0 ? 'unknown' : planned > 0 ? 'open' : 'unacknowledged';
}

/** Throws `not_found` for an op that is not there. */
export function detail(database: Database, self: Self, id: string): Promise<OpDetail> {
  return database.read(async tx => {
    const [summary] = await summariesOf(tx, self, { id });
    const op = await readOp(tx, id);
    if (op === undefined || summary === undefined) throw unknownOp(id);
    const events = await tx.all<{ at: number; n: number | null; kind: string; facts: string }>(
      sql`select at, n, kind, facts from event where op = ${id} order by seq`,
    );
    return {
      ...summary,
      changes: await readChanges(tx, id),
      events: events.map(({ at, n, kind, facts }) => ({ at: isoSeconds(at), row: n ?? undefined, kind, text: facts })),
      objections: op.objections,
    };
  });
}

/**
 * Writes down what a person has found of rows. Throws `usage` where there is nothing to settle, `guarded` while another process
 * works on the op, where `done` is said of rows that were never sent without naming them, and what `agree` throws.
 */
export async function resolveRows(
  database: Database,
  self: Self,
  resolution: Resolution,
  check: (op: Op, changes: readonly Change[]) => Promise<void>,
): Promise<Resolved> {
  const { op: id, agree } = resolution;
  const seen = await database.read(async tx => ({ op: await readOp(tx, id), changes: await readChanges(tx, id) }));
  if (seen.op === undefined) throw unknownOp(id);
  if (seen.op.state === 'pending') throw opError('guarded', id, `${id} is held for approval: nothing of it was sent`);
  const first = chosenOf(seen.op, seen.changes, resolution);
  refuseCard(first.chosen, resolution);
  await check(seen.op, first.chosen);
  await agree(first.closed);
  const settled = await database.transaction(async tx => {
    const op = await lockedOp(tx, database, id);
    const now = await tx.now();
    if (whoWorks(op, self, now) !== 'nobody') throw workedOn(op, now);
    const changes = await readChanges(tx, id);
    const chosen = chosenOf(op, changes, resolution);
    if (JSON.stringify(chosen.closed) !== JSON.stringify(first.closed)) {
      throw opError('guarded', id, `another process has worked on ${id} since it was looked at. Nothing was recorded`);
    }
    await refuseCardOfOthers(tx, op, resolution);
    const by = self.holder;
    for (const change of chosen.chosen) {
      const { as, note, card } = resolution;
      await writeSettled(
        tx,
        op,
        change,
        {
          state: as === 'done' ? 'done' : 'not_sent',
          card,
          evidence: { ...change.evidence, via: 'person', resolved: { as, note, who: by } },
        },
        { now, by },
      );
      await addEvent(tx, id, 'resolved', `${as} by ${by}: ${note}`, change.n);
    }
    await tx.run(sql`update op set epoch = epoch + 1, touched = ${now} where id = ${id}`);
    if (chosen.left.unknown.length + chosen.left.unsent.length === 0)
      await writeFinished(tx, op, now, op.objections, true);
    return chosen;
  });
  return { detail: await detail(database, self, id), closed: settled.closed, left: settled.left };
}

function chosenOf({ id, finished }: Op, changes: readonly Change[], { rows, as }: Resolution) {
  const isUnknown = ({ state }: Change) => state === 'unknown' || state === 'sent';
  const open = changes.filter(change => isUnknown(change) || change.state === 'planned');
  const settled = (rows ?? []).filter(row => !open.some(({ n }) => n === row));
  if (settled.length > 0) throw nothingToResolve(id, settled);
  // What never left did not happen by itself: `done` is believed of such a row only when the row is named.
  const chosen = open.filter(change => rows?.includes(change.n) ?? (as === 'not-done' || isUnknown(change)));
  if (chosen.length === 0 && open.length > 0) throw neverSent(id, open);
  if (open.length === 0 && finished !== undefined) throw nothingToResolve(id, []);
  const closing = (some: readonly Change[]): Closing => ({
    unknown: some.filter(isUnknown).map(({ n }) => n),
    unsent: some.filter(change => !isUnknown(change)).map(({ n }) => n),
  });
  return { chosen, closed: closing(chosen), left: closing(open.filter(change => !chosen.includes(change))) };
}

/** The card of a create that is said to be done must be able to be that of the row. */
function refuseCard(chosen: readonly Change[], { op, card, shownCard }: Resolution): void {
  if (card === undefined) return;
  const [change] = chosen;
  if (change === undefined || chosen.length !== 1 || change.operation !== 'cards.create') {
    const rows = rowsNamed(chosen.map(({ n }) => n));
    throw opError(
      'usage',
      op,
      `--card names the card of one create, and ${rows} of ${op} is none. Nothing was recorded`,
    );
  }
  if (shownCard === undefined) return;
  const metadata = (shownCard['metadata'] ?? {}) as Readonly<Record<string, unknown>>;
  const marker = metadata['cardwright'];
  const isOther = typeof marker === 'string' && marker !== change.marker;
  const isOtherBin = typeof shownCard['bin_id'] === 'string' && shownCard['bin_id'] !== change.input['bin_id'];
  if (!isOther && !isOtherBin) return;
  throw otherCard(op, card, isOther ? `it carries the mark ${marker}` : `it is of the BIN ${shownCard['bin_id']}`);
}

async function refuseCardOfOthers(tx: Reading, { account }: Op, { op, card }: Resolution): Promise<void> {
  if (card === undefined) return;
  const [other] = await tx.all<{ op: string; n: number }>(
    sql`select c.op, c.n from change c join op o on o.id = c.op
      where c.card = ${card} and c.operation = 'cards.create' and c.state = 'done' and o.account = ${account}`,
  );
  if (other !== undefined) throw otherCard(op, card, `row ${other.n} of ${other.op} is done with it`);
}

function otherCard(op: string, card: string, why: string): CliError {
  return opError('guarded', op, `${card} is not the card of ${op}: ${why}. Nothing was recorded`);
}

function neverSent(op: string, open: readonly Change[]): CliError {
  return opError('guarded', op, `no row of ${op} is unknown. Not sent: ${rowsNamed(open.map(({ n }) => n))}`, {
    notes: ['A row that was done in another way is named. A resume sends those that were not:'],
    hint: `cardwright ops resume ${op}`,
  });
}

function nothingToResolve(op: string, rows: readonly number[]): CliError {
  const which = rows.length === 0 ? 'every row' : rowsNamed(rows);
  return opError('usage', op, `neither open nor unknown: ${which} of ${op}. Nothing was recorded`);
}

/** After the built-in sandbox was replaced: what the journal knows of its cards is not true any more, and names are free again. */
export function setAsideSandbox(database: Database, who: string): Promise<void> {
  return database.transaction(async tx => {
    const accounts = await tx.all<{ id: string }>("select id from account where mode = 'sandbox'");
    for (const { id } of accounts) {
      await tx.run(sql`delete from card_hold where account = ${id}`);
      await tx.run(sql`delete from spent where account = ${id}`);
      await tx.run(sql`delete from op where account = ${id}`);
      await appendLine(tx, id, { event: 'set_aside', who });
    }
  });
}

/** The latest first; only those that are not finished when asked so. */
export function newestOps(
  database: Database,
  { unfinished, most }: { readonly unfinished: boolean; readonly most: number },
): Promise<readonly Op[]> {
  const where = unfinished ? sql`where state <> 'finished' or acknowledged is null` : sql``;
  return database.read(async tx => {
    const rows = await tx.all(sql`select * from op ${where} order by touched desc limit ${most}`);
    return rows.map(opOf);
  });
}
