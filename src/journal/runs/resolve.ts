/** Rows that a person settles by hand: which ones are meant, what is agreed to, and what stays open behind it. */

import { CliError } from '../../core/errors.ts';
import { rowsNamed } from '../../core/row-words.ts';
import { requestIdOf } from '../approvals/request-id.ts';
import { ON_THIS_MACHINE } from '../execution/by-hand.ts';
import type { Closing, Resolution } from '../shown-ops.ts';
import { isNewer, readOrError } from '../store/read-ops.ts';
import { isOp } from '../wal/op-id.ts';
import { type History, isPending, mayBePerformed, type RowHistory } from '../wal/replay.ts';
import { refuseShown } from './check-not-done.ts';
import type { JournalDependencies } from './dependencies.ts';
import { type NamedCard, refuseOfRow, refuseOtherCard } from './named-card.ts';
import { underLock } from './open.ts';
import { historyToShow, isUnfinished } from './queries.ts';
import { inHandOf } from './take-up.ts';

/** What was recorded, and what is left of the operation, by the numbers of its rows. */
export interface Settled {
  readonly closed: Closing;
  readonly left: Closing;
}

/**
 * Writes RESOLVED for the rows that are meant, and END where nothing is left. Throws `usage` where there is nothing to
 * settle, `guarded` where `done` is said of rows that were never sent without naming them, where another process works
 * on the operation or has changed it since it was agreed to, the card of a row that is said to be not done is there, or the
 * card that is named cannot be that of the row, and what `agree` throws; nothing was written then.
 */
export async function resolveRows(dependencies: JournalDependencies, resolution: Resolution): Promise<Settled> {
  const { op, as, note, card, agree } = resolution;
  const history = await historyToShow(dependencies.store, op);
  if (isPending(history)) throw stillHeld(op);
  const seen = await firstChosen(dependencies, history, resolution);
  const named = card === undefined ? undefined : namedCard(history, seen.closed, { card, shown: resolution.shownCard });
  if (named !== undefined) await refuseOtherCard(dependencies, history, named);
  if (as === 'not-done') await refuseShown(dependencies, history, seen.closed);
  await agree?.(seen.closed);
  const who = (await dependencies.store.requests?.account?.requester()) ?? ON_THIS_MACHINE;
  await underLock(dependencies, op, async ({ history, log, end }) => {
    const now = chosenOf(history, resolution);
    if (!isSame(now.closed, seen.closed)) throw changedMeanwhile(op);
    if (named !== undefined) refuseOfRow(history, named);
    const at = dependencies.clock.now();
    const rows = [...now.closed.unknown, ...now.closed.unsent];
    await Promise.all(
      rows.map(row => log.append({ t: 'RESOLVED', row, as, note, ...(card !== undefined && { card }), who, at })),
    );
    if (now.left.unknown.length + now.left.unsent.length === 0) await end();
  });
  return seen;
}

/** What is settled, and was not shown, ends by being shown. */
async function firstChosen({ store }: JournalDependencies, history: History, resolution: Resolution): Promise<Settled> {
  const { op } = resolution;
  try {
    return chosenOf(history, resolution);
  } catch (thrown) {
    const isOver = thrown instanceof CliError && thrown.kind === 'usage' && history.end !== undefined;
    if (!isOver || !(await isUnfinished(store, op)) || (await inHandOf(store, op)).held) throw thrown;
    throw thrown.with({
      message: `${thrown.message}. Its result was not shown yet, and a resume shows it`,
      hint: `cardwright ops resume ${op}`,
    });
  }
}

/** Throws `usage` for anything but one create. */
function namedCard(
  { plan: { op }, rows }: History,
  { unknown, unsent }: Closing,
  named: Omit<NamedCard, 'row'>,
): NamedCard {
  const chosen = [...unknown, ...unsent];
  const [row] = chosen;
  if (row !== undefined && chosen.length === 1 && rows.get(row)?.item.operation === 'cards.create')
    return { row, ...named };
  throw new CliError('usage', {
    message: `--card names the card of one create, and ${rowsNamed(chosen)} of ${op} ${chosen.length === 1 ? 'is none' : 'are several'}. Nothing was recorded`,
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}

function stillHeld(op: string): CliError {
  return new CliError('guarded', {
    message: `${op} is held for approval: nothing of it was sent`,
    hint: `cardwright approvals reject ${requestIdOf(op)} --reason "why"`,
    outcome: 'not_sent',
    op,
  });
}

/**
 * Takes an op whose journal is damaged out of the way: nobody can say which rows it had, so what a person knows is kept
 * beside it. Tells where it lies now; undefined for one that can be read, or that a newer version has written. Throws
 * `usage` for rows that are named, `guarded` while another process has it.
 */
export async function resolveDamaged(
  { store, clock }: JournalDependencies,
  { op, rows, as, note }: Resolution,
): Promise<string | undefined> {
  if (store.keepDamaged === undefined || !isOp(op)) return undefined;
  const damage = await readOrError(store, op);
  if (!(damage instanceof CliError) || (await isNewer(store, op))) return undefined;
  if (rows !== undefined) {
    const message = `${damage.message}. Its rows are not known: name none of them`;
    throw new CliError('usage', { message, hint: `cardwright ops list`, outcome: 'not_sent', op });
  }
  return store.keepDamaged(op, { as, note, at: clock.now() });
}

function chosenOf(history: History, { op, rows, as }: Resolution): Settled {
  const isOpen = (row: RowHistory) => row.state === 'unknown' || mayBePerformed(row, history.plan.bulk);
  const open = [...history.rows.values()].filter(isOpen);
  const settled = (rows ?? []).filter(row => !open.some(({ item }) => item.row === row));
  if (settled.length > 0) throw nothingToResolve(op, settled);
  // What never left did not happen by itself: `done` is believed of such a row only when the row is named.
  const isMeant = ({ item, state }: RowHistory) =>
    rows?.includes(item.row) ?? (as === 'not-done' || state === 'unknown');
  const chosen = open.filter(isMeant);
  if (chosen.length === 0 && open.length > 0) throw neverSent(op, numbersOf(open));
  // Rows that are all settled and an audit that could not be made: somebody may say that it is over.
  if (open.length === 0 && history.end !== undefined) throw nothingToResolve(op, []);
  return { closed: closingOf(chosen), left: closingOf(open.filter(row => !chosen.includes(row))) };
}

function closingOf(rows: readonly RowHistory[]): Closing {
  const isUnknown = ({ state }: RowHistory) => state === 'unknown';
  return {
    unknown: numbersOf(rows.filter(isUnknown)),
    unsent: numbersOf(rows.filter(row => !isUnknown(row))),
  };
}

function numbersOf(rows: readonly RowHistory[]): number[] {
  return rows.map(({ item }) => item.row).sort((one, other) => one - other);
}

function isSame(one: Closing, other: Closing): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function changedMeanwhile(op: string): CliError {
  return new CliError('guarded', {
    message: `another process has worked on ${op} since it was looked at. Nothing was recorded`,
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}

function neverSent(op: string, rows: readonly number[]): CliError {
  const [first] = rows;
  const were = rows.length === 1 ? 'was' : 'were';
  return new CliError('guarded', {
    message: `no row of ${op} is unknown; ${rowsNamed(rows)} ${were} not carried out by it`,
    notes: [
      `A row that was carried out in another way is named: cardwright ops resolve ${op} ${first} --as done --note "how"`,
      'A resume sends those that were not:',
    ],
    hint: `cardwright ops resume ${op}`,
    outcome: 'not_sent',
    op,
  });
}

function nothingToResolve(op: string, rows: readonly number[]): CliError {
  const what =
    rows.length === 0
      ? `${op} has no row that is open or unknown`
      : `${rowsNamed(rows)} of ${op} ${rows.length === 1 ? 'is' : 'are'} neither open nor unknown. Nothing was recorded`;
  return new CliError('usage', { message: what, hint: `cardwright ops show ${op}`, outcome: 'not_sent', op });
}
