/**
 * A name of the caller's own stands for one change, also when its command is repeated: the first op that was begun with it
 * is the only one that carries it out, until it is known that nothing happened (docs/design/reliability.md, section 6).
 */
import { CliError } from '../../core/errors.ts';
import { recordedNotes } from '../execution/by-hand.ts';
import { recordedOutcome } from '../execution/outcome.ts';
import type { NotedIntent, OpStore } from '../store/op-store.ts';
import { readOrError } from '../store/read-ops.ts';
import type { EarlierUse, PlannedRow, Run, RunPlan, TakeUp } from '../types.ts';
import { intentDigest } from '../wal/op-id.ts';
import { type History, isPending, mayBePerformed, type RowHistory } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { type Named, namedIn } from './named-rows.ts';
import { pendingTwin } from './pending-twin.ts';
import { isUnfinished } from './queries.ts';
import { rowWithoutMarker, withoutMarker } from './row-likeness.ts';
import { damagedTwin, standingOf } from './shared-rows.ts';
import { takeUpOf } from './take-up.ts';
import { withTwins } from './twin-rows.ts';

/** See `Journal.earlierUses`. */
export async function earlierUses(
  dependencies: JournalDependencies,
  plan: RunPlan,
): Promise<ReadonlyMap<number, EarlierUse>> {
  const named = namedIn(plan);
  if (named === undefined) return new Map();
  const { origin, mode } = await dependencies.acting();
  const noted = await dependencies.store.notedIntents({ origin, mode, names: named.names });
  return usesOf(dependencies, { plan, named, noted });
}

/**
 * Begins a plan with names, by `begin`, where all of them are free; takes the op of a single change up again that has its
 * name. Throws as `Journal.earlierUses`, and `guarded` where names of many rows were used since they were looked up.
 */
export async function beginNamed(
  dependencies: JournalDependencies,
  { plan, named, begin, resume }: { plan: RunPlan; named: Named; begin: () => Promise<Run>; resume: Resume },
): Promise<Run> {
  const { origin, mode } = await dependencies.acting();
  await dependencies.store.ready();
  const held = await dependencies.store.holdIntents({ origin, mode, names: named.names });
  let earlier: EarlierUse | undefined;
  try {
    [earlier] = (await usesOf(dependencies, { plan, named, noted: held.noted })).values();
    if (earlier === undefined) return await begin();
  } finally {
    await held.release();
  }
  if (plan.bulk || earlier.bulk) throw usedMeanwhile(earlier);
  return resume(earlier.op);
}

type Resume = (op: string) => Promise<Run>;

interface Lookup {
  readonly plan: RunPlan;
  readonly named: Named;
  readonly noted: ReadonlyMap<string, NotedIntent>;
}

async function usesOf(
  dependencies: JournalDependencies,
  { plan, named, noted }: Lookup,
): Promise<ReadonlyMap<number, EarlierUse>> {
  const uses = new Map<number, EarlierUse>();
  if (noted.size === 0) return uses;
  const rows = new Map([...plan.rows].map(row => [row.row, row]));
  const histories = new Map<string, History | undefined>();
  const shown = new Map<string, readonly RowHistory[]>();
  for (const wanted of named.claimed) {
    const note = noted.get(wanted.name);
    if (note === undefined) continue;
    if (!histories.has(note.op)) histories.set(note.op, await historyOfUse(dependencies, note.op));
    const history = histories.get(note.op);
    if (history === undefined && note.done === undefined) await refuseRecorded(dependencies, note);
    const standing = standingOfUse(note, history);
    if (standing === undefined) continue;
    if (note.digest !== wanted.digest && keptDigest(note, history) !== wanted.digest) {
      const row = rows.get(wanted.row);
      throw usedOtherwise(note, { plan, row, history });
    }
    const use = await useOf(dependencies, note, { standing, plan, history });
    uses.set(wanted.row, use);
    if (use.settled !== undefined && standing !== 'removed')
      shown.set(note.op, [...(shown.get(note.op) ?? []), standing]);
  }
  // Of what is not settled its resume says so.
  for (const [op, rows] of shown) for (const line of recordedNotes(rows)) dependencies.notice(`note: ${op}: ${line}`);
  return uses;
}

/** Throws `check_failed` for a damaged journal, with the way on. */
async function historyOfUse({ store }: JournalDependencies, op: string): Promise<History | undefined> {
  const history = await readOrError(store, op);
  if (history instanceof CliError) throw damagedTwin(store.setAside(op), history);
  return history;
}

/** What the name stands for by the journal: an earlier release has noted the same change in another form. */
function keptDigest({ row }: NotedIntent, history: History | undefined): string | undefined {
  const item = history?.rows.get(row)?.item;
  if (item === undefined) return undefined;
  const { operation, input, asked } = item;
  return intentDigest({ operation, input: withoutMarker(input), asked }, history?.plan.given_key);
}

/** The journal of its op was damaged and put aside: what a person said of it counts. */
async function refuseRecorded({ store }: JournalDependencies, { name, op }: NotedIntent): Promise<void> {
  const recorded = await store.recordedByHand?.(op);
  if (recorded?.as !== 'done') return;
  throw new CliError('guarded', {
    message: `the intent ${JSON.stringify(name)} was used by ${op}, which was recorded as done by hand: ${recorded.note}`,
    notes: ['Nothing was sent. Another purchase needs another intent.'],
    hint: 'cardwright ops list',
    outcome: 'not_sent',
    op,
  });
}

/** Its records could not be read, and an admin of the shared journal has said that it was done. */
function setAsideUse(
  { auditLog, handsOf }: Pick<OpStore, 'auditLog' | 'handsOf'>,
  { name, op }: Pick<NotedIntent, 'name' | 'op'>,
): CliError {
  return new CliError('check_failed', {
    message: `the intent ${JSON.stringify(name)} was used by ${op}, whose records could not be read and were set aside as done: what came of it is not known here`,
    notes: [
      'Nothing was sent. Another purchase needs another intent. The audit log of the shared journal has who has set it aside, and why.',
    ],
    // The files of a machine have no line of it: there the list of cards alone may show it.
    hint: handsOf === undefined ? 'cardwright cards list' : auditLog,
    outcome: 'not_sent',
    op,
  });
}

/** A row that was done before its op was removed has no history. */
type Standings = 'removed' | RowHistory;

/** Undefined where it is known that nothing happened: the name is free. */
function standingOfUse(note: NotedIntent, history: History | undefined): Standings | undefined {
  const row = history?.rows.get(note.row);
  // Without a plan nothing was sent; the op of a done row is removed with a word about it.
  if (history === undefined) return note.done === undefined ? undefined : 'removed';
  if (!history.planned || row === undefined) return undefined;
  const isOver = row.state === 'refused' || row.state === 'not_sent';
  return isOver && !mayBePerformed(row, history.plan.bulk) ? undefined : row;
}

interface Standing {
  readonly standing: Standings;
  readonly plan: RunPlan;
  readonly history: History | undefined;
}

async function useOf(
  dependencies: JournalDependencies,
  { name, op, row, done }: NotedIntent,
  { standing, plan, history }: Standing,
): Promise<EarlierUse> {
  const { store } = dependencies;
  if (standing === 'removed' || history === undefined) {
    if (done?.set_aside === true) throw setAsideUse(store, { name, op });
    const settled = { row, outcome: 'done', changed: false, cardId: done?.card } as const;
    return { intent: name, op, row, bulk: false, settled };
  }
  const { bulk } = history.plan;
  const use = { intent: name, op, row, bulk };
  if (standing.state !== 'done') {
    if ((bulk || plan.bulk) && isPending(history)) throw await pendingTwin(dependencies, history, { named: undefined });
    // A resume of many rows would send others than the one that is asked for.
    if (bulk || plan.bulk) throw await withTwins(store, unsettledUse(use, history, await takeUpOf(store, op)), history);
    return use;
  }
  // A single one that is not finished was told to nobody: its own command is about it then. A file shows its row.
  if (!bulk && !plan.bulk && (await isUnfinished(store, op))) return use;
  const outcome = recordedOutcome(standing, history.plan);
  return outcome === undefined ? use : { ...use, settled: { ...outcome, changed: false } };
}

function usedOtherwise(
  { name, op }: NotedIntent,
  { plan, row, history }: { plan: RunPlan; row: PlannedRow | undefined; history: History | undefined },
): CliError {
  const earlier = [...(history?.rows.values() ?? [])].find(({ item }) => item.intent === name)?.item;
  const fields = earlier === undefined || row === undefined ? [] : differing(row, earlier);
  if (earlier !== undefined && plan.key !== history?.plan.given_key) fields.push('idempotency key');
  const which = plan.bulk && row !== undefined ? `row ${row.row}: ` : '';
  const others = fields.length === 0 ? 'other values' : `another ${fields.join(', another ')}`;
  return new CliError('usage', {
    message: `${which}the intent ${JSON.stringify(name)} was used before with ${others}: ${op}; nothing was sent`,
    notes: ['One purchase, one intent. Another purchase needs another one.'],
    ...(fields.length > 0 && { evidence: { fields } }),
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}

type Values = PlannedRow['input'];

/** Names of what is not the same; never a value. */
function differing(row: PlannedRow, earlier: Pick<PlannedRow, 'operation' | 'input' | 'asked'>): string[] {
  if (row.operation !== earlier.operation) return ['operation'];
  const [one, other] = [row, earlier].map(({ input, asked }) => withoutMarker({ ...input, ...asked })) as [
    Values,
    Values,
  ];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  const digest = (name: string, values: Values) =>
    rowWithoutMarker({ operation: row.operation, input: { [name]: values[name] } });
  return [...names].filter(name => digest(name, one) !== digest(name, other)).sort();
}

function unsettledUse({ intent, op, row }: EarlierUse, history: History, { command, whose }: TakeUp): CliError {
  return new CliError('guarded', {
    message: `the intent ${JSON.stringify(intent)} belongs to row ${row} of a run that is not finished, ${standingOf(history)}: ${op}${whose}`,
    notes: [
      'Its resume settles that row, or tells how you settle it yourself. After that the same command may be run again.',
    ],
    hint: command,
    outcome: 'not_sent',
    op,
  });
}

function usedMeanwhile({ intent, op }: EarlierUse): CliError {
  return new CliError('guarded', {
    message: `another command was quicker with the intent ${JSON.stringify(intent)}: ${op}; nothing was sent`,
    notes: ['The same command again tells what that one has done. Another intent would be another purchase.'],
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}
