/** `fleet apply`: a reviewed plan made again and compared, or a plan made, shown and asked about; then sent through the journal. */

import { USUAL_WORKERS } from '../../cli/bulk/flags.ts';
import { RESULT_COLUMNS } from '../../cli/bulk/results.ts';
import { changeOf } from '../../cli/bulk/rows.ts';
import { noRows, resumeRows, sendRows } from '../../cli/bulk/run.ts';
import type { Context, Shown } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, option, RESULT_ROW, RUN_PAGE, takes, tells, typedOnly } from '../../cli/parsing/flag.ts';
import { QUIET } from '../../contract/spans.ts';
import { CliError, notSent } from '../../core/errors.ts';
import { type Cents, cents, dollars, spendingOf, toCents, toUsd } from '../../core/money.ts';
import { shellWord } from '../../core/shell-quote.ts';
import { MARKER_KEY } from '../../fleet/account.ts';
import { type Fleet, markPrefix } from '../../fleet/fleet-file.ts';
import {
  amountOf,
  foreignReasons,
  nextPlanName,
  type PlanDocument,
  readPlanFile,
  returnsOf,
  staleReasons,
} from '../../fleet/plan-file.ts';
import { countsText, planText } from '../../fleet/plan-page.ts';
import { type Allowed, type CreateBody, type NumberedStep, PHASES } from '../../fleet/step.ts';
import type { PlannedRow, RowOutcome, RunPlan } from '../../journal/types.ts';
import type { Column, Row } from '../../terminal/view.ts';
import { fillingWallet } from '../../writes/single-write.ts';
import { unread } from '../cards/state.ts';
import { FLEET_FORMAT, fleetFile, fleetOf, type NamedFleet, USUAL_FILE } from './file.ts';
import { type MadePlan, makePlan, overCaps, type PlanOptions, refuseLowWallet } from './plan.ts';

const MOST_WORKERS = 256;

export const applyFleet = command({
  path: 'fleet apply',
  summary: 'Make the cards what a fleet file says, through the journal',
  effect: 'moves-money',
  dryRun: true,
  reach: 'service',
  answers: [
    {
      list: {
        ...RESULT_ROW,
        name: tells.text('Name of the card in the file.'),
        do: tells.word('What was done.', Object.keys(PHASES)),
      },
      page: {
        ...RUN_PAGE,
        fleet: tells.text('Name of the fleet.'),
        plan: tells.text('Id of the plan.'),
        spent: tells.usd('What the done rows took from the wallet, USD.'),
      },
    },
    { any: 'With --dry-run, the requests.' },
  ],
  ends: {
    not_confirmed: 'Declined, or nobody could be asked. Nothing was sent.',
    partly_failed: 'Some steps are done and others not; a new plan holds the rest.',
    insufficient_funds: 'The wallet and what comes back do not cover the plan and the reserve.',
    outcome_unknown: 'Steps were sent without a trustworthy answer; cardwright ops resume settles them.',
    guarded:
      'The plan is stale, used, expired, edited or of another account, or a cap or guard said no. Nothing was sent.',
    check_failed: 'Two cards carry one marker.',
  },
  about: [
    'Off a terminal it carries out a plan that was made and reviewed before, and --plan is required. The plan is made again from the file and the account, and sent only where the steps are the same. A plan is carried out once; run again while its operation is open, it goes on with it.',
    'On a terminal it makes the plan, shows it and asks, for each class that is held back too.',
    'Phases follow each other: freeze, withdraw, terminate, create, fund, unfreeze. The keys follow from the intention, so that a second machine sends the same.',
    FLEET_FORMAT,
  ],
  args: { file: fleetFile },
  flags: {
    plan: option(local('file', 'The plan to carry out, from fleet plan --out.'), '<file>'),
    maxTotal: option(takes.money('Refuse a plan that spends more.', { min: 0 })),
    resendAbsent: typedOnly(option(takes.flag('Also send steps of which no trace was found, as ops resume does.'))),
    concurrency: option(
      takes.integer('Steps to send at the same time.', { min: 1, max: MOST_WORKERS, defaults: USUAL_WORKERS }),
    ),
  },
  examples: {
    'What it would send': 'fleet apply --plan plan.json --dry-run',
    'Carry out a reviewed plan': 'fleet apply --plan plan.json --yes',
  },
  async run(ctx, { file, plan: path, ...limits }) {
    if (path === undefined && !ctx.ui.canAsk && !ctx.dryRun)
      throw notSent('usage', 'fleet apply needs --plan <plan.json> where nobody can be asked', {
        notes: ['A plan is made, reviewed, and then carried out.'],
        hint: `cardwright fleet plan ${shellWord(file ?? USUAL_FILE)} --out plan.json`,
      });
    const named = await fleetOf(ctx, file);
    const journal = await ctx.journal.open();
    const plan = path && readPlanFile(await ctx.files.readFile(path), path, named.word);
    const op = plan && (await journal.begunAs(plan.id));
    if (!plan || !op) {
      // What another apply does from here on is not in the plan.
      const applies = ctx.dryRun ? undefined : await journal.appliesOf(markPrefix(named.fleet.name));
      const more = { ...limits, applies };
      return path && plan ? applyPlan(ctx, named, { plan, path }, more) : applyNow(ctx, named, more);
    }
    if (!ctx.dryRun) ctx.ui.notice(`This plan was begun before; going on with ${op}.`);
    const { concurrency, resendAbsent = false } = limits;
    return resumeRows(ctx, op, { resendAbsent }, { concurrency, extras: extrasOf(ctx, plan, named.word) });
  },
  show: shown => shown,
});

interface Limits {
  readonly concurrency: number | undefined;
  readonly maxTotal: Cents | undefined;
  /** Steps of which no trace was found are sent again. */
  readonly resendAbsent: boolean | undefined;
  /** Applies of the fleet before it was planned. */
  readonly applies: number | undefined;
}

/** On a terminal: made, shown and asked about. */
async function applyNow(ctx: Context, named: NamedFleet, limits: Limits): Promise<Shown> {
  let made = await settledPlan(ctx, named, { allowed: {} });
  if (!ctx.dryRun) {
    for (const line of planText(made.document).trimEnd().split('\n')) ctx.ui.notice(line);
    const allowed = await askForHeldBack(ctx, made.document);
    if (Object.keys(allowed).length > 0) made = await makePlan(ctx, named, { allowed });
  }
  return execute(ctx, named, made.document, limits);
}

/** A plan that was made before: made again, and sent only where it comes out the same. */
async function applyPlan(
  ctx: Context,
  named: NamedFleet,
  { plan, path }: { readonly plan: PlanDocument; readonly path: string },
  limits: Limits,
): Promise<Shown> {
  const stale = (reasons: readonly string[]) =>
    notSent('guarded', `${path} is stale: ${reasons[0]}. Nothing was sent`, {
      reason: 'plan_stale',
      notes: reasons.slice(1),
      hint: `cardwright fleet plan ${named.word} --out ${shellWord(nextPlanName(path))}`,
    });
  const made = await settledPlan(ctx, named, { allowed: plan.allowed, of: plan }).catch((thrown: unknown) => {
    // Another number than the plan's by now.
    if (!(thrown instanceof CliError) || thrown.facts.reason !== 'other_number') throw thrown;
    throw stale([thrown.message.replace('. Nothing was planned', '')]);
  });
  const { document: fresh, account, scope } = made;
  const foreign = foreignReasons(plan, fresh);
  const reasons = foreign.length > 0 ? foreign : staleReasons(plan, { fresh, account, scope });
  if (reasons.length > 0) throw stale(reasons);
  return execute(ctx, named, plan, limits);
}

/** Where something may still be on its way that this journal does not know, it is waited for and looked at again. */
async function settledPlan(ctx: Context, named: NamedFleet, options: PlanOptions): Promise<MadePlan> {
  const made = await makePlan(ctx, named, options);
  return (await waitUntilSettled(ctx, made)) ? makePlan(ctx, named, options) : made;
}

/** The count of each class, typed; an empty answer leaves it held back. */
async function askForHeldBack(ctx: Context, { held_back: held }: PlanDocument): Promise<Allowed> {
  const allowed: Record<string, number> = {};
  for (const { class: name, count } of held) {
    const question = `Plan ${name} of ${count} too? Type the count to allow it`;
    if (await ctx.ui.prompts.typed(question, { expect: String(count), flag: '--plan <plan.json>' }))
      allowed[name] = count;
  }
  return allowed;
}

const COLUMNS: readonly Column[] = [
  { field: 'name', title: 'NAME', kind: 'text', priority: 1 },
  { field: 'do', title: 'DO', kind: 'word', priority: 1 },
];

/** Guards, asks and sends. Throws before anything is sent: `guarded`, `insufficient_funds`, `not_confirmed`. */
async function execute(
  ctx: Context,
  { fleet, word }: NamedFleet,
  document: PlanDocument,
  { concurrency, maxTotal, resendAbsent = false, applies }: Limits,
): Promise<Shown> {
  if (document.steps.length === 0) {
    const waiting = waitingText(document, word);
    const says = waiting === undefined ? 'need no step.' : `have no step by itself. ${waiting}`;
    const page = { done: 0, fleet: document.fleet, plan: document.id, spent: 0 };
    const columns = [...RESULT_COLUMNS, ...COLUMNS];
    return { ...noRows(ctx, `The cards of ${document.fleet} ${says}`, page), columns };
  }
  const rows = rowsOfSteps(document.steps, fleet);
  const plan: RunPlan = {
    command: 'fleet apply',
    rows,
    digest: document.id,
    bulk: true,
    marker: true,
    key: document.id,
    markerPrefix: markPrefix(fleet.name),
    applies,
    phased: true,
    again: true,
    resendAbsent,
  };
  const { total } = spendingOf(rows);
  // A service may pay back what terminated cards held later, or never.
  const isWatched = document.totals.terminate > 0 && !ctx.dryRun && (await ctx.api.identity()).mode !== 'sandbox';
  const before = isWatched ? toCents((await ctx.api.read('wallet.get', {})).balance) : undefined;
  return sendRows(ctx, plan, {
    intent: `Apply ${document.fleet}: ${countsText(document)}${total === 0 ? '' : `, ${dollars(total)} in all`}`,
    name: 'the plan',
    ...{ total, maxTotal, concurrency, extras: extrasOf(ctx, document, word, before) },
    beforePhase: phase => lowWallet(ctx, document, phase),
    async check() {
      const over = overCaps(document);
      if (over !== undefined) throw over;
      refuseLowWallet(document, await ctx.api.identity());
      return undefined;
    },
  });
}

/**
 * Name and deed of each row, and what was spent; `before` is the wallet that is compared at the end. A card that nobody can tell is
 * told by its id from then on.
 */
function extrasOf(ctx: Context, document: PlanDocument, word: string, before?: Cents) {
  const { steps, fleet, id } = document;
  const byRow = new Map(steps.map(step => [step.row, step]));
  /** Lines of the file for cards that were made and do not show their marker. */
  const pins: string[] = [];
  let [spent, returned] = [0, 0];
  return {
    columns: COLUMNS,
    row({ row, outcome, cardId, amount, error, stops }: RowOutcome): Row {
      const step = byRow.get(row);
      if (step === undefined) return {};
      // Another card than was asked for, with its marker, does not stop the run.
      if (outcome === 'done' && stops === true && error?.kind === 'contract_mismatch')
        pins.push(`  ${step.name}: {card: ${cardId}}`);
      if (outcome === 'done' && (step.do === 'create' || step.do === 'fund')) spent += amount ?? amountOf(step);
      if (outcome === 'done') returned += returnsOf(step);
      return { name: step.name, do: step.do };
    },
    page: (): Row => ({ fleet, plan: id, spent: toUsd(cents(spent)) }),
    async atEnd() {
      const waiting = waitingText(document, word);
      if (waiting !== undefined) ctx.ui.notice(waiting);
      if (before === undefined) return;
      const remark = await walletRemark(ctx, before, cents(returned - spent));
      if (remark !== undefined) ctx.ui.notice(remark);
    },
    beside(failure: CliError): CliError {
      if (pins.length === 0) return failure;
      const notes = [...(failure.facts.notes ?? []), 'Write its id into the file, so that it is known by it:', ...pins];
      return failure.with({ notes, hint: `cardwright fleet validate ${word}` });
    },
  };
}

async function walletRemark(ctx: Context, before: Cents, change: Cents): Promise<string | undefined> {
  const wallet = await ctx.api.read('wallet.get', {}).catch(unread);
  if (wallet === undefined) return undefined;
  const now = toCents(wallet.balance);
  const short = cents(before + change - now);
  if (short <= 0) return undefined;
  return `note: the wallet went from ${dollars(before)} to ${dollars(now)}, ${dollars(short)} less than the done steps explain. The balance of a terminated card may come later, and others may use the wallet: cardwright wallet`;
}

/** Before the first step that spends: what came back meanwhile is in the wallet, and so is what others have taken. */
async function lowWallet(ctx: Context, { totals, caps }: PlanDocument, phase: number): Promise<CliError | undefined> {
  if (phase < CREATE_PHASE || totals.spend === 0) return undefined;
  if (phase > CREATE_PHASE && totals.create > 0) return undefined;
  const there = toCents((await ctx.api.read('wallet.get', {})).balance);
  const needed = cents(toCents(totals.spend) + toCents(caps.wallet_reserve));
  if (there >= needed) return undefined;
  return new CliError('insufficient_funds', {
    message: `the wallet is too low: ${dollars(needed)} are needed with the reserve, ${dollars(there)} there. Nothing was spent`,
    ...fillingWallet(await ctx.api.identity(), cents(needed - there)),
    outcome: 'not_sent',
  });
}

/** Differences that no step of the plan ends; undefined where there is none. */
function waitingText({ blocked, held_back: heldBack }: PlanDocument, word: string): string | undefined {
  const left = blocked.length + heldBack.reduce((all, { count }) => all + count, 0);
  return left === 0
    ? undefined
    : `${left} ${left === 1 ? 'waits' : 'wait'} for a person: cardwright fleet plan ${word}`;
}

/**
 * Room between two phases of steps. Creates after the first go one phase later: the first shows whether the service keeps
 * markers.
 */
const PHASE = 10;
const CREATE_PHASE = 4 * PHASE;

/** In the order of the steps, which have their numbers. */
function rowsOfSteps(steps: readonly NumberedStep[], { wishes }: Fleet): readonly PlannedRow[] {
  const tops = new Map(wishes.map(wish => [wish.name, wish.top_up_to]));
  const firstCreate = steps.find(step => step.do === 'create')?.row;
  return steps.map(step => {
    const isLater = step.do === 'create' && step.row !== firstCreate;
    // A create that replaces a card waits until that card is frozen; an unfreeze waits until its card is funded.
    const needs = steps.filter(other => {
      if (step.do === 'create') return other.do === 'freeze' && other.card === step.instead;
      return step.do === 'unfreeze' && other.do === 'fund' && other.card === step.card;
    });
    const { input, ...parts } = partsOf(step, tops.get(step.name));
    return {
      ...changeOf(step.row, `cards.${step.do}`, input),
      phase: step.phase * PHASE + (isLater ? 1 : 0),
      ...(needs.length > 0 && { needs: needs.map(({ row }) => row) }),
      ...parts,
    };
  });
}

type Parts = Pick<PlannedRow, 'input' | 'keyChain' | 'aim' | 'marker'>;

function partsOf(step: NumberedStep, topUpTo: PlannedRow['aim']): Parts {
  if (step.do === 'create') return createParts(step.key, step.body);
  if (step.do !== 'fund' && step.do !== 'withdraw') return { input: { card_id: step.card } };
  return {
    input: { card_id: step.card, amount: toCents(step.amount) },
    keyChain: chainOf(step.key),
    // A top-up never goes above `topUpTo`, a withdrawal never below 0, whatever somebody else has sent meanwhile.
    aim: step.do === 'fund' ? topUpTo : toCents(0),
  };
}

/** Money as cents; the marker is put in by the journal, which looks for it. */
function createParts(key: string, body: CreateBody): Parts {
  const { amount: usd, spending_limit: limit, auto_freeze_at: freezeAt, metadata, ...rest } = body;
  const { [MARKER_KEY]: marker, ...own } = metadata;
  return {
    input: {
      ...rest,
      amount: toCents(usd),
      ...(limit !== undefined && { spending_limit: toCents(limit) }),
      ...(freezeAt !== undefined && { auto_freeze_at: toCents(freezeAt) }),
      metadata: own,
    },
    keyChain: chainOf(key),
    marker,
  };
}

function chainOf(key: string): string {
  return key.replace(/\.1$/, '');
}

/**
 * True when it had to wait: then the plan is made anew. An apply of another machine may have sent more than the list shows,
 * where a card of the fleet is young and this journal does not know it. The list of the built-in sandbox is exact.
 */
async function waitUntilSettled(ctx: Context, { document, account, scope, made }: MadePlan): Promise<boolean> {
  const spends = document.totals.create + document.totals.fund > 0;
  if (!spends || scope.mode === 'sandbox' || ctx.dryRun) return false;
  const young = [...account.cards.values()].filter(
    ({ mark, createdAt }) => mark?.fleet === document.fleet && account.now - Date.parse(createdAt) < QUIET,
  );
  if (young.length === 0) return false;
  const unknown = young.filter(({ id }) => !made.has(id));
  if (unknown.length === 0) return false;
  const newest = Math.max(...unknown.map(({ createdAt }) => Date.parse(createdAt)));
  const wait = newest + QUIET - account.now;
  const what = unknown.length === 1 ? '1 card was' : `${unknown.length} cards were`;
  ctx.ui.notice(
    `${what} made by another apply a moment ago; waiting ${Math.ceil(wait / 1_000)} s for what may be on its way.`,
  );
  await ctx.clock.sleep(wait, ctx.signal);
  return true;
}
