/**
 * Rows that another op has too, where neither knew of the other: one of the two was brought from elsewhere, as behind a restored
 * backup (docs/design/team.md, section 5). What the other one has done, or will do, is not sent a second time.
 */
import { CALLS } from '../../contract/raw.ts';
import { DAY } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { isoSeconds } from '../../core/iso-time.ts';
import { capital, resolveCommand, rowsNamed } from '../../core/row-words.ts';
import type { RowOwner, RowOwners } from '../execution/run-context.ts';
import type { RecoveredOps, TwinOfBrought } from '../shared-ops.ts';
import type { OpStore, UnawareOp } from '../store/op-store.ts';
import { readItems, readOrError } from '../store/read-ops.ts';
import type { ItemRecord, PlanRecord } from '../wal/records.ts';
import { type History, mayBePerformed, type RowHistory } from '../wal/replay.ts';
import { isLeft, namesOfOthers } from './names-of-others.ts';
import { createLikeness } from './row-likeness.ts';
import { plannedOf } from './run.ts';
import { mayBeOf } from './same-account.ts';

type Store = Pick<OpStore, 'unawareOps' | 'isOwnPlan' | 'read' | 'leastLength' | 'clockSlackMs'>;

/** By row, the other op. */
export type TwinRows = ReadonlyMap<number, RowOwner>;

/** Whose a row is by its name, or by being the same change; asked when a row needs it, once for all. `told` once where it is the latter. */
export function rowOwners(
  store: Store & Pick<OpStore, 'usedByOthers'>,
  history: History,
  told: (note: string) => void,
): RowOwners {
  const named = namesOfOthers(store, history);
  let twins: Promise<TwinRows> | undefined;
  const ask = async () => {
    const found = await leftTwins(store, history);
    for (const note of twinNotes(history.plan.op, found)) told(note);
    return found;
  };
  return async row => {
    const op = await named(row);
    if (op !== undefined) return { op };
    twins ??= ask();
    return (await twins).get(row);
  };
}

/** Those of the rows that a resume would send, or might. */
export function leftTwins(store: Store, history: History): Promise<TwinRows> {
  const { bulk } = history.plan;
  return twinRows(store, history, [...history.rows.values()].filter(isLeft(bulk)));
}

/** Those of the rows that were done, and those that a resume would send, or might. */
export function allTwins(store: Store, history: History): Promise<TwinRows> {
  const { bulk } = history.plan;
  const isHere = (row: RowHistory) => row.state === 'done' || isLeft(bulk)(row);
  return twinRows(store, history, [...history.rows.values()].filter(isHere));
}

async function twinRows(store: Store, history: History, rows: readonly RowHistory[]): Promise<TwinRows> {
  const found = new Map<number, RowOwner>();
  const once = rows.filter(({ item }) => CALLS[item.operation].repeat !== 'freely');
  if (store.unawareOps === undefined || once.length === 0) return found;
  const isOfAccount = mayBeOf(store, history.plan);
  for (const other of await store.unawareOps(history.plan.op)) {
    const plan = await other.plan();
    if (plan === undefined || !(await isOfAccount(plan))) continue;
    for (const row of await sharedWith(store, { history, once }, { ...other, of: plan })) {
      const begun = `begun by ${other.begunBy} at ${isoSeconds(plan.at)}`;
      if (!found.has(row)) found.set(row, { op: other.op, begun });
    }
  }
  return found;
}

interface Other extends Pick<UnawareOp, 'op' | 'isFirst'> {
  readonly of: PlanRecord;
}

async function sharedWith(
  store: Store,
  { history, once }: { readonly history: History; readonly once: readonly RowHistory[] },
  other: Other,
): Promise<readonly number[]> {
  const [prefix, theirs] = [history.plan.marker_prefix, other.of.marker_prefix];
  // Of a fleet the later plan counts, and its cards are known by their markers.
  if (prefix !== undefined || theirs !== undefined)
    return prefix === theirs && other.isFirst ? once.map(({ item }) => item.row) : [];
  const taken = await takenRows(store, history, other);
  // What has a name, and is named otherwise there, is another purchase.
  const unnamed = taken.filter(({ intent }) => intent === undefined);
  const [named, nameless] = [once.filter(isNamed), once.filter(row => !isNamed(row))];
  return [
    ...createLikeness(named.map(({ item }) => plannedOf(item))).sharedWith(unnamed),
    ...createLikeness(nameless.map(({ item }) => plannedOf(item))).sharedWith(taken),
  ].map(({ row }) => row);
}

function isNamed({ item }: RowHistory): boolean {
  return item.intent !== undefined;
}

/** Rows of the other one that were done, or may have been; where it was here first, those too that it will do. */
async function takenRows(store: Store, { plan }: History, { op, isFirst, of }: Other): Promise<readonly ItemRecord[]> {
  const other = await readOrError(store, op);
  // What a damaged journal has done is not known.
  if (other instanceof CliError) return readItems(store, op);
  if (other?.planned !== true || other.denied !== undefined) return [];
  const { end } = other;
  if (end !== undefined && end.at < plan.at - (store.clockSlackMs ?? 0)) {
    // It was over before this one began. The same file is refused for a day all the same.
    const isRepeated = plan.bulk && of.bulk && of.digest === plan.digest && end.at > plan.at - DAY;
    if (!isRepeated) return [];
  }
  const isTaken = (row: RowHistory) =>
    row.state === 'done' || row.state === 'unknown' || (isFirst && end === undefined && mayBePerformed(row, of.bulk));
  return [...other.rows.values()].filter(isTaken).map(({ item }) => item);
}

/** Of rows of an op that are not sent: where they are too, and how a person settles them. */
export function twinNotes(op: string, twins: TwinRows): readonly string[] {
  if (twins.size === 0) return [];
  const all = [...twins.keys()].sort((one, other) => one - other);
  const [they, happened, are] = all.length === 1 ? ['It', 'it', 'is'] : ['They', 'they', 'are'];
  return [
    ...twinWords(op, twins),
    `No resume sends ${rowsNamed(all)}: what is bought in one of the two must not be bought in the other. Look at both, and at the cards themselves.`,
    `${they} ${are} not to be bought here, and did not happen: ${resolveCommand(op, all, 'not-done')}`,
    `When you know that ${happened} happened: ${resolveCommand(op, all, 'done')}`,
  ];
}

/** A sentence for each other op. */
export function twinWords(op: string, twins: TwinRows): readonly string[] {
  const groups = new Map<string, number[]>();
  for (const [row, { op: other, begun }] of twins) {
    const which = `${other}, ${begun}`;
    groups.set(which, [...(groups.get(which) ?? []), row]);
  }
  return [...groups].map(([which, rows]) => {
    const are = rows.length === 1 ? 'is' : 'are';
    return `${capital(rowsNamed(rows.sort((one, other) => one - other)))} of ${op} ${are} in another operation too: ${which}.`;
  });
}

/** Of each op that was brought back, the others that have rows of it too. */
export async function twinsOfBrought(
  store: Store,
  { recovered }: Pick<RecoveredOps, 'recovered'>,
): Promise<readonly TwinOfBrought[]> {
  const found: TwinOfBrought[] = [];
  for (const { op } of recovered) {
    const history = await readOrError(store, op);
    if (history === undefined || history instanceof CliError) continue;
    const twins = await allTwins(store, history);
    const settled = twinNotes(op, await leftTwins(store, history)).slice(1);
    for (const other of new Set([...twins.values()].map(each => each.op))) {
      const rows = new Map([...twins].filter(([, each]) => each.op === other));
      found.push({ op, with: other, rows: rows.size, notes: [...twinWords(op, rows), ...settled] });
    }
  }
  return found;
}

/** The same refusal; where no resume sends rows of the op it says so, in place of what a resume would do. */
export async function withTwins(store: Store, refusal: CliError, history: History): Promise<CliError> {
  if (history.end !== undefined) return refusal;
  const twins = await leftTwins(store, history);
  if (twins.size === 0) return refusal;
  const first = /\bops takeover\b/.test(refusal.facts.hint ?? '') ? [`Take it over first: ${refusal.facts.hint}`] : [];
  const [where, none, ...commands] = twinNotes(history.plan.op, twins);
  return refusal.with({ notes: [...[where, none].flatMap(each => each ?? []), ...first, ...commands] });
}
