/** The same changes a second time: what an earlier op must have come to before they may be begun. */
import { CALLS } from '../../contract/raw.ts';
import { DAY } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { recordedNotes } from '../execution/by-hand.ts';
import { readOrError } from '../store/read-ops.ts';
import type { RunPlan, TakeUp } from '../types.ts';
import type { ItemRecord, PlanRecord } from '../wal/records.ts';
import { type History, isPending, type RowHistory } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { isNamed } from './named-rows.ts';
import { refuseOverlaps } from './overlap.ts';
import { pendingTwin } from './pending-twin.ts';
import { mayBeOf, withAddress } from './same-account.ts';
import { secondTime } from './second-time.ts';
import { damagedTwin, refuseSharedRowsOnce, standingOf } from './shared-rows.ts';
import { type InHand, inHandOf } from './take-up.ts';
import { withTwins } from './twin-rows.ts';
import { outlasting, UnderLease } from './under-lease.ts';

const AGAIN_MS = DAY;

/** What tells whether two plans are the same changes of the same account. */
interface Likeness {
  readonly plan: Pick<RunPlan, 'rows' | 'bulk' | 'again' | 'unattended' | 'digestInOrder' | 'markerPrefix'>;
  readonly record: Pick<PlanRecord, 'origin' | 'mode' | 'digest'>;
}

/**
 * Throws `guarded` for a twin; see `Journal.begin`. An op is finished when its journal says END and its mark is gone:
 * without END its rows were compared with nothing, and with the mark its process ended before its answer was written.
 * What ended after this command began was not known to whoever said `again`.
 */
export async function refuseTwins(dependencies: JournalDependencies, like: Likeness): Promise<void> {
  await outlasting(dependencies, () => refuseTwinsOnce(dependencies, like));
}

async function refuseTwinsOnce(dependencies: JournalDependencies, like: Likeness): Promise<void> {
  const { store } = dependencies;
  // A run of many rows is rare and dear: every journal is looked at, in case a mark was lost.
  const among = { unfinished: !like.plan.bulk };
  const isOfAccount = mayBeOf(store, like.record);
  for await (const { op, unfinished, plan } of store.heads(among)) {
    const written = await plan();
    if (written !== undefined && !(isSameInput(written, like) && (await isOfAccount(written)))) continue;
    const inHand = await inHandOf(store, op);
    const history = await readOrError(store, op);
    if (history instanceof CliError) {
      if (unfinished && !onlyStops(like.plan)) throw damagedTwin(store.setAside(op), history);
    } else if (history?.planned === true) {
      if (isPending(history)) {
        await refusePending(dependencies, like, history);
        continue;
      }
      const refusal = twinRefused(dependencies, like, {
        history,
        inHand,
        marked: unfinished && (!inHand.finished || inHand.isUntold),
      });
      if (refusal instanceof CliError)
        throw withAddress(await withTwins(store, refusal, history), history.plan, like.record);
      if (refusal !== undefined) throw refusal;
    }
  }
  await refuseSharedRowsOnce(dependencies, like, among);
  await refuseOverlaps(dependencies, like);
}

/** Nothing of it was sent, so that other names for every row are other purchases. */
async function refusePending(
  dependencies: JournalDependencies,
  { plan, record }: Likeness,
  history: History,
): Promise<void> {
  const named = isNamed(plan.rows);
  if (named && isNamed([...history.rows.values()].map(({ item }) => item))) return;
  throw withAddress(await pendingTwin(dependencies, history, { named }), history.plan, record);
}

/** A card that is stopped twice is stopped: a journal that nobody can read keeps no one from it. */
function onlyStops({ rows }: Likeness['plan']): boolean {
  for (const { operation } of rows) if (operation !== 'cards.freeze' && operation !== 'cards.terminate') return false;
  return true;
}

interface Twin {
  readonly history: History;
  /** Whether it stands among the unfinished. */
  readonly marked: boolean;
  readonly inHand: InHand;
}

/** Undefined where nothing is in the way. */
function twinRefused(
  { clock, begunAt }: JournalDependencies,
  { plan }: Likeness,
  { history, marked, inHand }: Twin,
): CliError | UnderLease | undefined {
  const { op, bulk } = history.plan;
  const rows = [...history.rows.values()];
  // A row that has its own name, and is named otherwise there, is another purchase.
  const isOther = isNamed(plan.rows) && isNamed(rows.map(({ item }) => item));
  // What came to nothing by its request may be asked for again at once.
  if (history.denied !== undefined && !marked) return undefined;
  // The same file is refused for a day, whether its end was shown or not.
  if (history.end !== undefined && (!marked || (inHand.isUntold && plan.bulk && bulk))) {
    const isRecent = clock.now() - history.end.at < AGAIN_MS;
    const endedMeanwhile = history.end.at > begunAt && history.end.at <= clock.now();
    const isMeant = isOther || (plan.again === true && !endedMeanwhile);
    if (plan.bulk && bulk && !isMeant && isRecent) return bulkRepeated(history, inHand);
    return undefined;
  }
  const { held, leased, takeUp } = inHand;
  // Also with --again: it is for runs that are finished, and an unfinished one may be taken for such.
  if (plan.bulk && bulk) return bulkUnfinished(history, inHand);
  // A card that is stopped twice is stopped, whatever came of the first time.
  if (!rows.some(isOnce) && plan.unattended !== true) return undefined;
  // The same card made by two commands at once is meant; beside a resume of the first, the second one is not.
  if (held ? rows.some(movesBalance) || history.runs > 1 : rows.some(row => row.state === 'unknown'))
    return twinUnknown(op, {
      ...inHand,
      movesMoney: rows.some(row => movesBalance(row) || makesCard(row)),
      makesCards: rows.every(makesCard),
      itsIntent: isOther ? rows[0]?.item.intent : undefined,
    });
  if (leased && !isOther && rows.some(isOnce)) return twinLeased(history, takeUp);
  if (!held && rows.some(row => row.state === 'open')) return twinOpen(op, takeUp);
  if (!held && rows.some(row => isUntold(row, inHand))) return twinUntold(history, inHand);
  return undefined;
}

function makesCard({ item }: RowHistory): boolean {
  return item.operation === 'cards.create';
}

function movesBalance({ item }: RowHistory): boolean {
  return item.operation === 'cards.fund' || item.operation === 'cards.withdraw';
}

/** Done, and nobody was told, or not who asks for it: the same command would do it once more. */
function isUntold(row: RowHistory, inHand: InHand): boolean {
  return row.state === 'done' && (row.resolved === undefined || inHand.isUntold) && isOnce(row);
}

function isOnce({ item }: RowHistory): boolean {
  return CALLS[item.operation].repeat !== 'freely';
}

/** Told by its first line: the rest may be long, and may be damaged. */
function isSameInput(written: PlanRecord, { plan, record }: Likeness): boolean {
  return written.digest === record.digest || written.digest === plan.digestInOrder;
}

interface UnknownTwin extends InHand {
  readonly movesMoney: boolean;
  /** A create has a label and metadata; nothing else has. */
  readonly makesCards: boolean;
  /** Its name, where what is asked for now has another one. */
  readonly itsIntent: string | undefined;
}

function twinUnknown(op: string, { held, movesMoney, makesCards, itsIntent, takeUp }: UnknownTwin): CliError {
  const why = held ? 'is under way in another process' : 'has an unknown outcome';
  const which = itsIntent === undefined ? '' : `, with the intent ${JSON.stringify(itsIntent)},`;
  return new CliError('guarded', {
    message: `the same operation${which} ${why}: ${op}${takeUp.whose}`,
    notes: [
      itsIntent === undefined
        ? `Running it again would be a new key and could ${movesMoney ? 'move the money twice' : 'change it twice'}.`
        : `Another intent is no way around it. When it is settled${makesCards ? ', or where a label or other metadata tells the two apart' : ''}, this one goes on.`,
      ...takeUp.later,
    ],
    hint: held ? `cardwright ops show ${op}` : takeUp.command,
    outcome: 'not_sent',
    op,
  });
}

/** A run of many may take long, and is not waited for. */
function twinLeased(history: History, { whose, later }: TakeUp): UnderLease | CliError {
  const { op, bulk } = history.plan;
  const why =
    history.end === undefined ? 'is under way in another process' : 'is done, and its command has not said so yet';
  const refusal = new CliError('guarded', {
    message: `the same operation ${why}: ${op}${whose}`,
    notes: [
      'That process may have been killed: begun a second time, both could be done.',
      ...later,
      'Where several commands do the same at once, an --intent for each tells them apart.',
    ],
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
  return bulk ? refusal : new UnderLease(op, refusal);
}

function twinOpen(op: string, { command, whose }: TakeUp): CliError {
  return new CliError('guarded', {
    message: `the same operation was begun before, and its command ended before anything was sent: ${op}${whose}`,
    notes: ['Begun a second time, both could be sent. Its resume sends it once.'],
    hint: command,
    outcome: 'not_sent',
    op,
  });
}

function twinUntold({ plan: { op }, rows }: History, { isUntold, takeUp: { command, whose } }: InHand): CliError {
  const why = isUntold && whose !== '' ? 'who began it has not seen that' : 'its command ended before it could say so';
  return new CliError('guarded', {
    message: `the same operation is done, and ${why}: ${op}${whose}`,
    notes: [
      ...recordedNotes(rows.values()),
      'Running it again would do it a second time. Let its result be shown; then the command may be run again.',
    ],
    hint: command,
    outcome: 'not_sent',
    op,
  });
}

function bulkUnfinished(history: History, { held, takeUp }: InHand): CliError {
  const { op } = history.plan;
  return new CliError('guarded', {
    message: `a run with the same input ${held ? 'is under way in another process' : 'is not finished'}, ${standingOf(history)}: ${op}${takeUp.whose}`,
    notes: held
      ? takeUp.later
      : [`A resume sends the others alone, and finishes it; --again is for runs that are finished.`],
    hint: held ? `cardwright ops show ${op}` : takeUp.command,
    outcome: 'not_sent',
    op,
  });
}

function bulkRepeated({ plan: { op }, rows }: History, { endedBy }: InHand): CliError {
  const all = [...rows.values()];
  const done = all.flatMap(({ item, state }) => (state === 'done' ? [item] : []));
  const who = endedBy === undefined ? '' : ` by ${endedBy.holder} on ${endedBy.host}`;
  return new CliError('guarded', {
    message: `a run with the same input was finished${who} less than 24 hours ago, ${done.length} of ${all.length} rows done: ${op}`,
    notes: [...recordedNotes(all), ...repeatedNotes(op, done, all.length)],
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}

function repeatedNotes(op: string, done: readonly ItemRecord[], of: number): string[] {
  const left = of - done.length;
  if (done.length === 0) return ['None of its rows is done: --again runs all of them.'];
  const again = secondTime(done, of);
  if (left === 0) return [again];
  const others = left === 1 ? 'the other row in a file of its own' : `the other ${left} rows in a file of their own`;
  return [`Run ${others}. ${again}`, `What became of each row: cardwright ops show ${op} -o csv`];
}
