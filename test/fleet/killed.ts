/**
 * An apply that is killed at its n-th effect, and how somebody goes on: with the journal or without it, by the same plan or
 * a new one. The journal, the rows and the planner are those of the program, before a real sandbox behind HTTP.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rowsOfSteps } from '../../src/commands/fleet/rows.ts';
import { CliError } from '../../src/core/errors.ts';
import { cents, toCents } from '../../src/core/money.ts';
import { type Account, AccountCards, type CardRecords } from '../../src/fleet/account.ts';
import { markPrefix } from '../../src/fleet/names.ts';
import { cardsToRead, planFleet } from '../../src/fleet/plan.ts';
import type { Planned } from '../../src/fleet/step.ts';
import type { Journal, Run, RunPlan } from '../../src/journal/types.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { dyingHere, type Effect, journalFor, type Order } from '../crash/driver.ts';
import { realClock, waitingClock } from '../support/clocks.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { ask, type Served } from '../support/sandbox-http.ts';
import { fleetOf } from './memory-account.ts';

/** Above the highest pid Linux gives. */
const GONE = 4_194_305;
const WALLET = 1_000;

const HEAD = 'version: 1\nfleet: team\ncaps: {per_apply: 900, cards: 99}\ndefaults: {bin: bin_1, amount: 10}\n';

/** Before and after an edit: cards made, one topped up, one removed, one replaced. */
export const FLEETS = {
  'three new cards': ['', `${HEAD}cards: {event: {label: "event {n}", count: 3}}\n`],
  'a top-up and a removal': [
    `${HEAD}cards: {ads: {label: ads}, old: {label: old}}\n`,
    `${HEAD}cards: {ads: {label: ads, floor: 20, top_up_to: 50}, saas: {label: saas}}\n`,
  ],
  'a replacement': [
    `${HEAD}cards: {ads: {label: ads, limit: 100}}\n`,
    `${HEAD}cards: {ads: {label: ads, limit: 200, replace: card_1}}\n`,
  ],
} as const;

export interface Setting {
  readonly fleet: keyof typeof FLEETS;
  readonly dieAt: number;
  readonly honoured: boolean;
  readonly journal: 'kept' | 'lost';
  readonly goesOn: 'resume' | 'new plan';
}

export interface Outcome {
  /** False when it came to its end before that effect. */
  readonly killed: boolean;
  readonly broken: readonly string[];
}

/** One kill, one way on, and what is wrong in the end. */
export async function killAndGoOn(setting: Setting): Promise<Outcome> {
  await using sandbox = await startSandbox({ wallet: WALLET, ids: 'counted', rateLimits: false });
  await using proxy = await startFaultProxy({ target: sandbox.url, stripKeys: !setting.honoured });
  const folders = await Promise.all(
    ['first', 'other'].map(name => mkdtemp(join(tmpdir(), `cardwright-fleet-${name}-`))),
  );
  try {
    const [first = '', other = ''] = folders;
    const orderIn = (folder: string): Order => ({
      ...{ url: proxy.url, key: sandbox.key.expose(), folder, bin: 'bin_1', rows: 0 },
      ...{ dieAt: setting.dieAt, honoured: setting.honoured },
    });
    const [before, after] = FLEETS[setting.fleet];
    if (before !== '') await applyWhole(sandbox, before, journalFor(orderIn(first)));
    const { killed, steps } = await killedApply(sandbox, after, orderIn(first));
    const clock = waitingClock(Date.now() + 1_000);
    const journal = journalFor(orderIn(setting.journal === 'kept' ? first : other), undefined, clock);
    const broken: string[] = [];
    // Whoever plans anew resumes what was begun before it later, or never.
    if (setting.goesOn === 'new plan') await applyWhole(sandbox, after, journal);
    for (let round = 0; round < 3; round += 1) {
      if (setting.journal === 'kept') await resumeAll(journal);
      await applyWhole(sandbox, after, journal);
    }
    const plan = await planOf(sandbox, after);
    if (plan.planned.steps.length > 0)
      broken.push(`left: ${plan.planned.steps.map(({ name, do: deed }) => `${name} ${deed}`).join(', ')}`);
    broken.push(...(await wrongIn(sandbox)));
    return { killed: killed && steps > 0, broken };
  } finally {
    await Promise.all(folders.map(folder => rm(folder, { recursive: true, force: true })));
  }
}

/** Two cards of one marker, or money that is neither in the wallet nor on a card. */
async function wrongIn(sandbox: Served): Promise<readonly string[]> {
  const { json: list } = await ask(sandbox, { path: '/cards?per_page=100' });
  const { json: wallet } = await ask(sandbox, { path: '/wallet' });
  const cards = list.data as { readonly metadata: Record<string, string>; readonly balance: number }[];
  const markers = cards.map(({ metadata }) => metadata['cardwright'] ?? '');
  const sum = cards.reduce((all, { balance }) => all + toCents(balance), Number(toCents(wallet.balance)));
  return [
    ...(new Set(markers).size < markers.length ? [`second cards: ${markers.sort().join(', ')}`] : []),
    ...(sum === WALLET * 100 ? [] : [`wallet and cards hold ${sum}`]),
  ];
}

interface PlanNow {
  readonly planned: Planned;
  readonly plan: RunPlan;
}

async function planOf(sandbox: Served, text: string): Promise<PlanNow> {
  const fleet = fleetOf(text);
  const cards = new AccountCards(fleet);
  const { json: list } = await ask(sandbox, { path: '/cards?per_page=100' });
  for (const card of list.data) cards.add(card);
  const { json: wallet } = await ask(sandbox, { path: '/wallet' });
  const bins = [
    { id: 'bin_1', maxMonthly: cents(500_000), maxTransaction: cents(50_000), features: new Set<string>() },
  ];
  const account: Account = cards.account({ bins, wallet: toCents(wallet.balance), now: Date.now() });
  const nothing: CardRecords = { newest: '', usedThisMonth: cents(0), holdsOpen: false, lastUse: undefined };
  const records = new Map(cardsToRead(fleet, account).map(id => [id, nothing]));
  const scope = { origin: 'https://api.example', mode: 'test', fleet: fleet.name };
  const input = { fleet, file: 'f', account, records, scope, locked: [], pickBin: () => 'bin_1' };
  const planned = planFleet({ ...input, allowed: {} });
  const rows = rowsOfSteps(planned.steps, fleet);
  // The id of a plan is the digest of all it says.
  const id = `plan_${Buffer.from(JSON.stringify(planned.steps)).toString('base64url').slice(-40)}${account.wallet}`;
  const plan: RunPlan = {
    ...{ command: 'fleet apply', rows, digest: id, key: id, bulk: true, marker: true, again: true, phased: true },
    markerPrefix: markPrefix(fleet.name),
  };
  return { planned, plan };
}

async function applyWhole(sandbox: Served, text: string, journal: Journal): Promise<void> {
  const { plan } = await planOf(sandbox, text);
  if (plan.rows.length === 0) return;
  try {
    await performPhases(await journal.begin(plan));
  } catch (thrown) {
    // Used, or in the way of another: the next plan goes on.
    if (!(thrown instanceof CliError) || thrown.kind !== 'guarded') throw thrown;
  }
}

/** Row by row in their order; a row whose needs are not done is left. */
async function performPhases(opened: Run): Promise<void> {
  await using run = opened;
  const done = new Set<number>();
  for (const { row, state, planned } of [...run.rows]) {
    if (state === 'done') done.add(row);
    if (state === 'done' || planned.needs?.some(each => !done.has(each)) === true) continue;
    const { outcome } = await run.perform(row);
    if (outcome === 'done') done.add(row);
  }
  await run.finish();
}

async function resumeAll(journal: Journal): Promise<void> {
  for (const { op, state } of await journal.list()) {
    if (state === 'finished') continue;
    try {
      await performPhases(await journal.resume(op, { resendAbsent: true }));
    } catch (thrown) {
      if (!(thrown instanceof CliError) || (thrown.kind !== 'guarded' && thrown.kind !== 'usage')) throw thrown;
    }
  }
}

async function killedApply(sandbox: Served, text: string, order: Order): Promise<{ killed: boolean; steps: number }> {
  const { plan } = await planOf(sandbox, text);
  let effects = 0;
  let die = (): void => undefined;
  const dead = new Promise<'dead'>(resolve => {
    die = () => resolve('dead');
  });
  const effect: Effect = () => {
    effects += 1;
    if (effects < order.dieAt) return undefined;
    die();
    return new Promise<never>(() => undefined);
  };
  const { wraps, letGo } = dyingHere(effect);
  const journal = journalFor(order, wraps, realClock, { pid: GONE });
  const whole = (async () => {
    await performPhases(await journal.begin(plan));
    return 'ended' as const;
  })();
  const how = await Promise.race([dead, whole]);
  await letGo();
  return { killed: how === 'dead', steps: plan.rows.length };
}

/** Every boundary of a fleet, or every `step`-th of them. */
export async function sweep(
  setting: Omit<Setting, 'dieAt'>,
  step = 1,
): Promise<{ kills: number; broken: readonly string[] }> {
  const broken: string[] = [];
  let kills = 0;
  for (let dieAt = 1; ; dieAt += step) {
    const outcome = await killAndGoOn({ ...setting, dieAt });
    broken.push(...outcome.broken.map(what => `effect ${dieAt}: ${what}`));
    if (!outcome.killed) return { kills, broken };
    kills += 1;
  }
}
