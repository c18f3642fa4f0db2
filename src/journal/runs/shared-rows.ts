/**
 * Rows that a run which is not finished has too. After a kill a file is often edited before it is run again: as a whole
 * it is another input then, and some of its rows are done already.
 */
import { CliError } from '../../core/errors.ts';
import { capital, resolveCommand, rowsNamed } from '../../core/row-words.ts';
import { recordedNotes } from '../execution/by-hand.ts';
import type { HeadFilter } from '../store/op-store.ts';
import { readItems, readOrError } from '../store/read-ops.ts';
import type { RunPlan, TakeUp } from '../types.ts';
import type { PlanRecord } from '../wal/records.ts';
import { type History, isPending, mayBePerformed, type RowHistory } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { isNamed } from './named-rows.ts';
import { pendingTwin } from './pending-twin.ts';
import { createLikeness, type RowLikeness, rowBeforeChoice } from './row-likeness.ts';
import { mayBeOf, withAddress } from './same-account.ts';
import { type InHand, inHandOf } from './take-up.ts';
import { withTwins } from './twin-rows.ts';
import { outlasting, UnderLease } from './under-lease.ts';

/** A plan, or what is known of it before it has an op. */
export interface Sharing {
  readonly plan: Pick<RunPlan, 'rows' | 'bulk' | 'again' | 'digestInOrder' | 'markerPrefix'>;
  readonly record: Pick<PlanRecord, 'origin' | 'mode' | 'digest'>;
}

const FILLED_IN =
  'One of the two gives a value that the other leaves to the service, such as spending_limit: they may ask for the same.';

/** What a damaged journal has sent is not known, and it may be a twin. */
export function damagedTwin(setAside: string, damage: CliError): CliError {
  const notes = [
    'It may be the same operation, and what it has sent is not known. Look at the service itself first.',
    `When you know, ${setAside}`,
  ];
  return damage.with({ notes });
}

/**
 * Throws `guarded` when rows of the plan are rows of another operation of the same account that is not finished, also
 * with `again`: what is done there would be done twice, and so would what its resume still does. Operations that may be
 * repeated freely are not held up. Those of `among` are looked at; twins of the whole plan are told apart before.
 */
export async function refuseSharedRows(
  dependencies: JournalDependencies,
  sharing: Sharing,
  among: HeadFilter,
): Promise<void> {
  await outlasting(dependencies, () => refuseSharedRowsOnce(dependencies, sharing, among));
}

/** The same; an op that may end by itself is thrown as `UnderLease`. */
export async function refuseSharedRowsOnce(
  dependencies: JournalDependencies,
  sharing: Sharing,
  among: HeadFilter,
): Promise<void> {
  const { plan, record } = sharing;
  // Rows of a fleet are known by their markers and keys, whichever run has them.
  if (plan.markerPrefix !== undefined) return;
  const wanted = createLikeness(plan.rows);
  if (!wanted.any()) return;
  const isOfAccount = mayBeOf(dependencies.store, record);
  for await (const head of dependencies.store.heads(among)) {
    const other = await head.plan();
    if (other === undefined || !(await isOfAccount(other))) continue;
    if (other.digest === record.digest || other.digest === plan.digestInOrder) continue;
    if (!head.unfinished && (!other.bulk || (await head.end()) !== undefined)) continue;
    await refuseSharedWith(dependencies, sharing, { op: head.op, planned: other.rows, wanted });
  }
}

interface Looked {
  readonly op: string;
  /** Rows of its plan. */
  readonly planned: number;
  readonly wanted: RowLikeness;
}

async function refuseSharedWith(
  { store, approvals }: JournalDependencies,
  { plan, record }: Sharing,
  { op, planned, wanted }: Looked,
): Promise<void> {
  const inHand = await inHandOf(store, op);
  const history = await readOrError(store, op);
  if (history instanceof CliError) {
    const items = await readItems(store, op);
    // A row that cannot be read may be one of these.
    const isWhole = new Set(items.map(({ row }) => row)).size === planned;
    if (!isWhole || wanted.sharedWith(items).length > 0) throw damagedTwin(store.setAside(op), history);
    return;
  }
  if (history?.planned !== true || (inHand.finished && !inHand.isUntold && !history.plan.bulk)) return;
  const both = plan.bulk && history.plan.bulk;
  // Of its end another rule tells, for a day.
  if (both && inHand.isUntold) return;
  const named = isNamed(plan.rows);
  // Somebody who says that a row is not done has taken it out of the run.
  const inTheWay = (row: RowHistory) =>
    both ? row.resolved?.as !== 'not-done' : isInTheWay(row, history, { ...inHand, named });
  // Nothing of what is held was sent: a row that is named otherwise is another purchase.
  const isHeldToo = ({ item }: RowHistory) => !(named && item.intent !== undefined);
  const isHeld = isPending(history);
  const rows = [...history.rows.values()].filter(isHeld ? isHeldToo : inTheWay);
  const shared = wanted.sharedWith(rows.map(({ item }) => item));
  if (shared.length === 0) return;
  if (isHeld) {
    const which = pendingWords(shared.length, plan.rows.length, history);
    throw withAddress(await pendingTwin({ approvals }, history, { which, named }), history.plan, record);
  }
  const refused = sharedRows(history, { shared: shared.length, of: plan.rows.length, ...inHand });
  const told = await withTwins(store, refused, history);
  const sent = new Set(rows.map(({ item }) => rowBeforeChoice(item)));
  const isFilledIn = shared.every(row => !sent.has(rowBeforeChoice(row)));
  const refusal = withAddress(
    isFilledIn ? told.with({ notes: [FILLED_IN, ...(told.facts.notes ?? [])] }) : told,
    history.plan,
    record,
  );
  throw inHand.leased && !history.plan.bulk ? new UnderLease(op, refusal) : refusal;
}

function pendingWords(shared: number, of: number, { plan: { bulk } }: History): string {
  const which = of === 1 ? 'the same change is' : `${shared} of these ${of} rows ${shared === 1 ? 'is' : 'are'}`;
  return `${which} in ${bulk ? 'a run' : 'an operation'} that is`;
}

/**
 * Where one of the two is a single command. The same card made by two commands at once is meant; after a kill, what was
 * done was perhaps told to nobody, and what was not is done by the resume.
 */
function isInTheWay(
  row: RowHistory,
  { plan }: History,
  { held, leased, isUntold, named }: Pick<InHand, 'held' | 'leased' | 'isUntold'> & { readonly named: boolean },
): boolean {
  const { item, state, resolved } = row;
  // Whoever records a row by hand knows of it; of a colleague who has done that, who began it does not.
  if (resolved !== undefined && !(isUntold && state === 'done')) return false;
  const moves = item.operation === 'cards.fund' || item.operation === 'cards.withdraw';
  if (held && moves && (state === 'unknown' || state === 'open')) return true;
  const isOther = named && item.intent !== undefined;
  if (held && (!leased || isOther)) return false;
  return state === 'unknown' || state === 'done' || mayBePerformed(row, plan.bulk);
}

/** How far a run is: the one count that every refusal for its sake tells. */
export function standingOf({ rows }: History): string {
  let [done, unknown] = [0, 0];
  for (const { state } of rows.values()) {
    if (state === 'done') done += 1;
    else if (state === 'unknown') unknown += 1;
  }
  return `${done} of its ${rows.size} rows done${unknown === 0 ? '' : `, ${unknown} unknown`}`;
}

interface Shares {
  readonly shared: number;
  /** Rows of the plan. */
  readonly of: number;
  readonly held: boolean;
  readonly takeUp: TakeUp;
}

function sharedRows(history: History, { shared, of, held, takeUp }: Shares): CliError {
  const { op } = history.plan;
  if (!held && history.end !== undefined) return sharedUnseen(history, { shared, of, takeUp });
  const unknown = [...history.rows.values()].filter(({ state }) => state === 'unknown').map(({ item }) => item.row);
  const which = of === 1 ? 'the same change is' : `${shared} of these ${of} rows ${shared === 1 ? 'is' : 'are'}`;
  // Who has not begun it can record nothing of it before it is in his hands.
  const isOther = takeUp.isTakeover;
  const where = held ? 'in a run that is under way in another process' : 'in a run that is not finished';
  return new CliError('guarded', {
    message: `${which} ${where}, ${standingOf(history)}: ${op}${takeUp.whose}`,
    ...(held && { notes: takeUp.later }),
    ...(!held && {
      notes: [
        `What is done there would be done a second time. A resume does the rest of ${op} and finishes it; then run what is left.`,
        ...(unknown.length > 0
          ? [
              `${capital(rowsNamed(unknown))} may have happened. Look first, which sends nothing that may have left: ${takeUp.command}`,
              `${isOther ? 'The takeover comes first. Where it' : 'Where that'} cannot tell, look at the service yourself, then say so. It happened: ${resolveCommand(op, unknown, 'done')}`,
              `It did not: ${resolveCommand(op, unknown, 'not-done')}`,
            ]
          : [
              `When it is over and is not to be resumed${isOther ? ', who has it says so' : ''}: cardwright ops resolve ${op} --as not-done --note "why"`,
            ]),
      ],
    }),
    hint: held ? `cardwright ops show ${op}` : takeUp.command,
    outcome: 'not_sent',
    op,
  });
}

/** Every row is settled, and its result was not shown. */
function sharedUnseen(history: History, { shared, of, takeUp }: Omit<Shares, 'held'>): CliError {
  const { op } = history.plan;
  const which = of === 1 ? 'the same change is' : `${shared} of these ${of} rows ${shared === 1 ? 'is' : 'are'}`;
  return new CliError('guarded', {
    message: `${which} in a run that has ended, ${standingOf(history)}, and who began it has not seen that: ${op}${takeUp.whose}`,
    notes: [
      ...recordedNotes(history.rows.values()),
      'What is done there would be done a second time. Let its result be shown; then the command may be run again.',
    ],
    hint: takeUp.command,
    outcome: 'not_sent',
    op,
  });
}
