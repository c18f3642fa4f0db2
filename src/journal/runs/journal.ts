/**
 * The journal of one user: its methods put together from the files beside it (docs/design/reliability.md, section 6).
 */

import { NO_OVERRIDES } from '../../contract/overrides.ts';
import { DAY, SECOND } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { probeKeys, probeRequests, probeRows } from '../execution/probe-keys.ts';
import { readerOf } from '../execution/run-context.ts';
import type { Closing } from '../shown-ops.ts';
import type { OpFlaws } from '../store/op-store.ts';
import { historyNamed, readHistory, readOrError } from '../store/read-ops.ts';
import type { Journal, OpView, PreparedRun, Probe, ReadBefore, ResumeOptions, Run, RunPlan } from '../types.ts';
import type { History } from '../wal/replay.ts';
import { beginOp } from './begin.ts';
import { noticeRecorded, tellRecorded } from './by-hand.ts';
import { checkCards } from './check-cards.ts';
import { warnOfCards } from './check-not-done.ts';
import type { JournalDependencies } from './dependencies.ts';
import { refuseEditedRows } from './edited-rows.ts';
import { type FinishedBefore, refuseFinishedRows } from './finished-rows.ts';
import { beginWithKey } from './given-key.ts';
import { beginNamed, earlierUses } from './intents.ts';
import { namedIn } from './named-rows.ts';
import { openOp, readOnlyRun } from './open.ts';
import { planOp, prepareOp, requestsOf } from './planned.ts';
import { damagedDetail, detailOf, summaries } from './queries.ts';
import { resolveDamaged, resolveRows } from './resolve.ts';
import { mayBeOf } from './same-account.ts';
import { endShown } from './shown-rows.ts';
import { countedFlaw, planFlaw, refuseMisstated } from './stated-rows.ts';
import { takeUpOf } from './take-up.ts';
import { twinsOfBrought } from './twin-rows.ts';
import { refuseTwins } from './twins.ts';

const NO_ROWS: Closing = { unknown: [], unsent: [] };

const KEEP_MS = 90 * DAY;
/** Longer than a year: what is bought yearly under one name is one purchase all the same. */
const KEEP_INTENTS_MS = 400 * DAY;

export function createJournal(dependencies: JournalDependencies): Journal {
  const { store } = dependencies;
  let finishedBefore: FinishedBefore | undefined;

  async function look(op: string, options: ResumeOptions = {}): Promise<OpView> {
    const history = await historyNamed(store, op);
    await sameAccount(dependencies, history);
    await warnOfCards(dependencies, history);
    const takeOver = async (again = options) => {
      const run = await openOp(dependencies, history, again);
      noticeRecorded(dependencies, history);
      return run;
    };
    return {
      run: await readOnlyRun(dependencies, history, options),
      takeUp: () => takeUpOf(store, op),
      refuse: () => refuseAhead(dependencies, history),
      takeOver,
    };
  }

  async function resume(op: string, options?: ResumeOptions): Promise<Run> {
    const { takeOver } = await look(op);
    return takeOver(options);
  }

  async function prepare(plan: RunPlan): Promise<PreparedRun> {
    const prepared = await prepareOp(dependencies, plan);
    return {
      op: prepared.op,
      requests: requestsOf(prepared),
      held: async () => dependencies.approvals?.foresee(plan),
      async begin(seen) {
        const known = { ...prepared, plan: withSeen(plan, seen), finishedBefore };
        const { key } = plan;
        const named = namedIn(plan);
        const begin = async () =>
          key === undefined
            ? beginOp(dependencies, await planOp(dependencies, known))
            : beginWithKey(dependencies, { prepared: known, key, resume });
        return named === undefined ? begin() : beginNamed(dependencies, { plan: known.plan, named, begin, resume });
      },
    };
  }

  return {
    async refuseTwin(plan) {
      finishedBefore = await refuseEarlier(dependencies, plan);
    },
    prepare: plan => prepare(plan),
    earlierUses: plan => earlierUses(dependencies, plan),
    shown: uses => endShown(dependencies, uses, op => takeUpShown(dependencies, op)),
    begin: async plan => (await prepare(plan)).begin(),
    look,
    resume,
    begunAs: name => begunAs(dependencies, name),
    holdFleet: fleet => holdFleet(dependencies, fleet),
    list: () => summaries(dependencies),
    ...ofSeveral(dependencies),
    show: op => detailOf(dependencies, op),
    async resolve(resolution) {
      const aside = await resolveDamaged(dependencies, resolution);
      if (aside !== undefined) return { closed: NO_ROWS, left: NO_ROWS, detail: damagedDetail(resolution.op), aside };
      const settled = await resolveRows(dependencies, resolution);
      return { ...settled, detail: await detailOf(dependencies, resolution.op) };
    },
    probe: binId => probe(dependencies, binId),
    prune: options => prune(dependencies, options),
  };
}

async function prune(
  dependencies: JournalDependencies,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<readonly string[]> {
  const { store, clock } = dependencies;
  const removed: string[] = [];
  for (const { op, state, last_at } of await summaries(dependencies)) {
    if ((state !== 'finished' && state !== 'rejected') || clock.now() - Date.parse(last_at) < KEEP_MS) continue;
    if (dryRun || (await store.forget(op))) removed.push(op);
  }
  if (!dryRun) await store.forgetIntents(clock.now() - KEEP_INTENTS_MS);
  return removed;
}

/** See `OpView.refuse`. */
async function refuseAhead(dependencies: JournalDependencies, history: History): Promise<void> {
  await dependencies.store.refuseMoved?.(history.plan);
  await refuseMisstated(dependencies, history);
  if (history.approved !== undefined) await dependencies.approvals?.recheck(history);
}

/** What was recorded of its rows by hand was said with them. */
async function takeUpShown(dependencies: JournalDependencies, op: string): Promise<Run> {
  const history = await historyNamed(dependencies.store, op);
  await sameAccount(dependencies, history);
  return openOp(dependencies, history, {});
}

/** See `Journal.refuseTwin`; resolves to rows that a finished run has too. */
async function refuseEarlier(
  dependencies: JournalDependencies,
  plan: Parameters<Journal['refuseTwin']>[0],
): Promise<FinishedBefore | undefined> {
  const { origin, mode } = await dependencies.acting();
  const like = { plan, record: { origin, mode, digest: plan.digest } };
  try {
    await refuseTwins(dependencies, like);
    const finishedBefore = await refuseFinishedRows(dependencies, like);
    await refuseEditedRows(dependencies, like);
    await tellRecorded(dependencies, like);
    return finishedBefore;
  } catch (thrown) {
    await refuseMovedTwin(dependencies, thrown);
    throw thrown;
  }
}

/** Of an op that was moved to another journal what leads on here ends in the next refusal. */
async function refuseMovedTwin({ store }: JournalDependencies, thrown: unknown): Promise<void> {
  const op = thrown instanceof CliError ? thrown.facts.op : undefined;
  const history = op === undefined ? undefined : await readOrError(store, op);
  if (history !== undefined && !(history instanceof CliError)) await store.refuseMoved?.(history.plan);
}

async function begunAs({ store, acting }: JournalDependencies, key: string): ReturnType<Journal['begunAs']> {
  const { origin, mode } = await acting();
  const held = await store.holdKey({ origin, mode, key });
  try {
    const op = await held.usedFor();
    const history = op === undefined ? undefined : await readHistory(store, op);
    return op === undefined || history?.planned !== true ? undefined : { op, ended: history.end?.at };
  } finally {
    await held.release();
  }
}

async function holdFleet({ store, acting }: JournalDependencies, fleet: string): Promise<() => Promise<void>> {
  const { origin, mode } = await acting();
  await store.ready();
  const name = `fleet/${fleet}`;
  if (store.holdName !== undefined) return store.holdName(name);
  const held = await store.holdKey({ origin, mode, key: name }).catch((thrown: unknown) => {
    if (!(thrown instanceof CliError) || thrown.kind !== 'guarded') throw thrown;
    const message = `another apply of the fleet ${fleet} is under way on this machine`;
    throw new CliError('guarded', { message, hint: 'cardwright ops list', outcome: 'not_sent', cause: thrown });
  });
  return () => held.release();
}

/** What only a journal of several people has. */
function ofSeveral(dependencies: JournalDependencies): Pick<Journal, 'leases' | 'push' | 'check'> {
  const { store } = dependencies;
  return {
    async leases() {
      if (store.leases === undefined) throw notShared();
      return store.leases();
    },
    async push() {
      if (store.push === undefined) throw notShared();
      const pushed = await store.push();
      return { ...pushed, twins: await twinsOfBrought(store, pushed) };
    },
    async check() {
      if (store.check === undefined) throw notShared();
      const checked = await store.check(await opFlawsOf(dependencies));
      return checkCards(readerOf(await dependencies.service()), checked);
    },
  };
}

/** What a store cannot know: whether rows are what is said of them, and approvals those of persons. */
async function opFlawsOf({ overrides, approvals }: JournalDependencies): Promise<OpFlaws> {
  const names = (await overrides?.()) ?? NO_OVERRIDES;
  return async (history, counted) =>
    [
      planFlaw(history, names),
      counted === undefined ? undefined : countedFlaw(history, counted),
      await approvals?.flaw(history),
    ].filter(flaw => flaw !== undefined);
}

function notShared(): CliError {
  return new CliError('usage', {
    message: 'these operations are those of one machine; nobody else works on them',
    hint: 'cardwright ops list',
    outcome: 'not_sent',
  });
}

/** Balances are evidence of a single row, and for the verification of a run. */
function withSeen(plan: RunPlan, { before, wallet }: ReadBefore = {}): RunPlan {
  const rows = before === undefined ? plan.rows : [...plan.rows].map(row => ({ ...row, before }));
  return { ...plan, rows, ...(wallet !== undefined && { wallet }) };
}

/** A resume must reach the account the rows were meant for: at its address, or with its API key at another one. */
async function sameAccount(dependencies: JournalDependencies, { plan }: History): Promise<void> {
  const acting = await dependencies.acting();
  const named = plan.mode === 'sandbox' ? '--sandbox' : `--profile ${plan.profile}`;
  if (!(await mayBeOf(dependencies.store, acting)(plan)) || acting.mode !== plan.mode) {
    throw new CliError('usage', {
      message: `${plan.op} was begun with profile ${plan.profile} at ${plan.origin}; this run uses ${acting.profile} at ${acting.origin}`,
      hint: `cardwright ops resume ${plan.op} ${named}`,
      outcome: 'not_sent',
      op: plan.op,
    });
  }
  if (await dependencies.store.isOwnPlan(plan)) return dependencies.store.refuseKeyTaken?.();
  throw new CliError('guarded', {
    message: `${plan.op} was begun with another API key than this one; its cards may belong to another account`,
    notes: [
      `When the key was only replaced, look at its rows: cardwright ops show ${plan.op}`,
      `It happened: cardwright ops resolve ${plan.op} --as done --note "why"`,
      `It did not: cardwright ops resolve ${plan.op} --as not-done --note "why"`,
    ],
    hint: `cardwright ops show ${plan.op}`,
    outcome: 'not_sent',
    op: plan.op,
  });
}

/** Long enough for a list that lags behind a little; a service that is slower than that is not known by a probe. */
const PROBE_PAUSE_MS = 3 * SECOND;

async function probe(dependencies: JournalDependencies, binId: string): Promise<Probe> {
  const { mode, origin, profile } = await dependencies.acting();
  if (mode === 'live') {
    throw new CliError('guarded', {
      message: `idempotency is probed with a test key or the sandbox, and ${profile} has a live key`,
      hint: 'cardwright contract check',
      outcome: 'not_sent',
    });
  }
  const service = await dependencies.service();
  const token = Buffer.from(dependencies.random.bytes(8)).toString('hex');
  const { clock, capabilities, stop } = dependencies;
  return {
    rows: probeRows(binId, token),
    requests: probeRequests(service, binId, token),
    async run(around) {
      const quietPeriodMs = mode === 'sandbox' ? 0 : PROBE_PAUSE_MS;
      const keyPrint = await dependencies.store.keyPrint(mode);
      const probed = await probeKeys({
        service,
        reader: readerOf(service),
        binId,
        token,
        clock,
        stop,
        quietPeriodMs,
        around,
      });
      const learned = Object.fromEntries(probed.map(({ operation, capability }) => [operation, capability]));
      if (mode !== 'sandbox') await capabilities.remember({ origin, mode, keyPrint }, learned);
      return probed;
    },
  };
}
