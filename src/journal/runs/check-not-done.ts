/**
 * The look before rows are recorded as not done: a card that carries the mark of a row shows that it is done, and what is
 * bought again for it is bought twice (docs/design/reliability.md, section 6). Reads alone.
 */
import { CliError } from '../../core/errors.ts';
import { fewOf, resolveCommand, rowsNamed } from '../../core/row-words.ts';
import { assessmentOf } from '../execution/assessment.ts';
import { cardAge, oldestFirst } from '../execution/card-age.ts';
import { checkForEffect, type EvidenceCheck, traceOf } from '../execution/evidence.ts';
import { isQuiet } from '../execution/quiet.ts';
import { checkOnce } from '../execution/reconcile.ts';
import type { RunContext } from '../execution/run-context.ts';
import type { Closing } from '../shown-ops.ts';
import type { PlanRecord } from '../wal/records.ts';
import type { History, RowHistory } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { readOnlyContext } from './open.ts';
import { mayBeOf } from './same-account.ts';
import { takeUpOf } from './take-up.ts';

/**
 * Throws `guarded` where the card of a row is there. Says aloud what else speaks against it, and where a look tells nothing: a
 * person may know what the service does not say.
 */
export async function refuseShown(
  dependencies: JournalDependencies,
  history: History,
  closing: Closing,
): Promise<void> {
  const looked = await looksAt(dependencies, history, closing);
  dependencies.stop.throwIfAborted();
  const shown = new Map(
    [...looked.rows].filter(([, { look }]) => isShown(look)).map(([row, { cards }]) => [row, cards]),
  );
  if (shown.size > 0) throw await isDone(dependencies, { history, closing, shown, isOwn: looked.isOwn });
  const unknown = closing.unknown.flatMap(number => history.rows.get(number) ?? []);
  for (const line of doubtsOf(unknown, looked, history.plan)) dependencies.notice(`warning: ${line}`);
}

/** Says of rows that are recorded as not done where their cards are there all the same. */
export async function warnOfCards(dependencies: JournalDependencies, history: History): Promise<void> {
  const { plan, rows, denied } = history;
  const recorded = [...rows.values()].filter(
    ({ item, state, resolved }) =>
      item.operation === 'cards.create' && state === 'not_sent' && resolved?.as === 'not-done',
  );
  if (recorded.length === 0 || denied !== undefined) return;
  const unsent = recorded.map(({ item }) => item.row);
  for (const [row, { look, cards }] of (await looksAt(dependencies, history, { unknown: [], unsent })).rows) {
    if (!isShown(look)) continue;
    const carry = cards.length === 1 ? 'carries its mark' : 'carry its mark';
    dependencies.notice(
      `warning: row ${row} of ${plan.op} is recorded as not done, and ${fewOf(cards)} ${carry}: what was bought again for it was bought twice`,
    );
  }
}

interface Look {
  readonly look: EvidenceCheck;
  /** That carry its mark, the oldest first. */
  readonly cards: readonly string[];
  /** Nothing of it can still be on its way. */
  readonly isOver: boolean;
}

interface Looks {
  readonly rows: ReadonlyMap<number, Look>;
  /** Why nobody was asked. */
  readonly blind?: string | undefined;
  /** The API key of this command has begun it; what another one does not see says nothing. */
  readonly isOwn: boolean;
}

const isShown = ({ found, cards }: EvidenceCheck) => (found === 'it' || found === 'several') && cards.length > 0;

/** Of creates by their marks, also those that are not known to have been sent; of transfers by balances. */
async function looksAt(dependencies: JournalDependencies, history: History, closing: Closing): Promise<Looks> {
  const { plan } = history;
  try {
    const blind = await otherAccount(dependencies, plan);
    if (blind !== undefined) return { rows: new Map(), blind, isOwn: false };
    const context = await readOnlyContext(dependencies, history);
    const looks = [
      ...(await Promise.all([...closing.unknown, ...closing.unsent].map(row => lookAt(context, row, 'marker')))),
      // One after the other: each reads a card of its own.
      ...(await inOrder(closing.unknown, row => lookAt(context, row, 'balances'))),
    ];
    return { rows: new Map(looks.flatMap(each => each ?? [])), isOwn: await dependencies.store.isOwnPlan(plan) };
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
    return { rows: new Map(), blind: thrown.message, isOwn: false };
  }
}

async function lookAt(
  context: RunContext,
  number: number,
  trace: 'marker' | 'balances',
): Promise<readonly [number, Look][] | undefined> {
  const row = context.row(number);
  if (traceOf(row, context.markerUsable()) !== trace) return undefined;
  // The wallet tells of what was sent alone.
  const isSent = row.state === 'unknown';
  const look = isSent ? await checkOnce(context, number, { row, trace }) : await checkForEffect(row, trace, context);
  const cards = trace === 'marker' ? oldestFirst(look.cards.map(cardAge)) : [];
  return [[number, { look, cards, isOver: isQuiet(context, number) }]];
}

async function inOrder<T>(rows: readonly number[], work: (row: number) => Promise<T>): Promise<readonly T[]> {
  const done: T[] = [];
  for (const row of rows) done.push(await work(row));
  return done;
}

/** Why this command sees the cards of another account; undefined where it sees those of the op. */
async function otherAccount({ acting, store }: JournalDependencies, plan: PlanRecord): Promise<string | undefined> {
  const here = await acting();
  if (here.mode === plan.mode && (await mayBeOf(store, here)(plan))) return undefined;
  return `it was begun with profile ${plan.profile} at ${plan.origin}, and this command uses ${here.profile} at ${here.origin}`;
}

interface Refused {
  readonly history: History;
  readonly closing: Closing;
  /** Cards of each row that is done. */
  readonly shown: ReadonlyMap<number, readonly string[]>;
  readonly isOwn: boolean;
}

async function isDone(
  { store }: JournalDependencies,
  { history: { plan }, closing, shown, isOwn }: Refused,
): Promise<CliError> {
  const { op } = plan;
  const rows = [...shown.keys()].sort((one, other) => one - other);
  const cards = rows.flatMap(row => shown.get(row) ?? []);
  const left = [...closing.unknown, ...closing.unsent].filter(row => !shown.has(row)).sort((one, other) => one - other);
  const byHand = (row: number) => resolveCommand(op, [row], 'done', shown.get(row)?.[0]);
  const { command } = await takeUpOf(store, op);
  const carry = cards.length === 1 ? 'carries its mark' : `carry ${rows.length === 1 ? 'its mark' : 'their marks'}`;
  return new CliError('guarded', {
    message: `${rowsNamed(rows)} of ${op} ${rows.length === 1 ? 'is' : 'are'} done: ${fewOf(cards)} ${carry}. Nothing was recorded`,
    notes: [
      ...(isOwn ? [`Where that is refused, ${rowsNamed(rows.slice(0, 1))} by hand: ${byHand(rows[0] ?? 0)}`] : []),
      ...(left.length > 0 ? [`For ${rowsNamed(left)} alone: ${resolveCommand(op, left, 'not-done')}`] : []),
    ],
    hint: isOwn ? command : byHand(rows[0] ?? 0),
    outcome: 'not_sent',
    op,
  });
}

/** A sentence for all rows of which the same is to be said. */
function doubtsOf(rows: readonly RowHistory[], looks: Looks, { op }: PlanRecord): readonly string[] {
  const said = new Map<string, { readonly rows: number[]; readonly doubt: Doubt }>();
  for (const row of rows) {
    const doubt = doubtOf(row, looks, op);
    if (doubt === undefined) continue;
    const alike = said.get(doubt('')) ?? { rows: [], doubt };
    alike.rows.push(row.item.row);
    said.set(doubt(''), alike);
  }
  return [...said.values()].map(({ rows: alike, doubt }) => doubt(rowsNamed(alike)));
}

/** Of rows that are alike. */
type Doubt = (rows: string) => string;

/** What speaks against it that the row was not done; undefined where nothing does. */
function doubtOf(row: RowHistory, { rows, blind, isOwn }: Looks, op: string): Doubt | undefined {
  const looked = rows.get(row.item.row);
  const { verdict, because } = assessmentOf(row, looked?.look);
  if (verdict === 'probably done')
    return which => `${which} is probably done, by the looks so far: ${because}. It is recorded as not done`;
  const unknown = blind ?? (isOwn ? undefined : OTHER_KEY);
  const isLookedFor = looked !== undefined || (blind !== undefined && traceOf(row, true) !== 'state');
  if (unknown !== undefined && isLookedFor) return notKnown(unknown);
  if (looked === undefined) return undefined;
  const { look, isOver } = looked;
  if (look.failed || (look.found === 'unclear' && traceOf(row, true) === 'marker')) return notKnown(look.text);
  if (look.found !== 'nothing' || isOver) return undefined;
  return which =>
    `nothing of ${which} shows yet, and something may still be on its way. Before it is done anew: cardwright ops resume ${op} --dry-run`;
}

const OTHER_KEY = 'it was begun with another API key than this one, which may see other cards';

const notKnown =
  (why: string): Doubt =>
  which =>
    `whether ${which} happened is not known: ${why}. What you say is recorded`;
