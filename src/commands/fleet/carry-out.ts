/** The steps of a plan, sent through the journal in their phases. */

import { driveRun } from '../../cli/bulk/drive-run.ts';
import { RESULT_COLUMNS } from '../../cli/bulk/result-row.ts';
import type { Context } from '../../cli/context.ts';
import { showPlanned } from '../../cli/dry-run.ts';
import type { Shown } from '../../cli/shown.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, dollars, toCents, toUsd } from '../../core/money.ts';
import { sameCommandWith } from '../../core/same-command.ts';
import { spendingOf } from '../../core/spending.ts';
import { markPrefix } from '../../fleet/names.ts';
import { type PlanDocument, returnsOf } from '../../fleet/plan-document.ts';
import { countsText } from '../../fleet/plan-lines.ts';
import { amountOf } from '../../fleet/stale.ts';
import type { PreparedRun, RowOutcome, Run, RunPlan } from '../../journal/types.ts';
import type { Column, Row } from '../../terminal/view.ts';
import { tellPending } from '../../writes/pending-notice.ts';
import type { Change } from '../../writes/pipeline.ts';
import { refuseLowWallet, refuseOverCaps } from './make-plan.ts';
import type { NamedFleet } from './read-file.ts';
import { CREATE_PHASE, rowsOfSteps } from './rows.ts';

export interface Carrying {
  readonly document: PlanDocument;
  readonly concurrency: number;
  readonly maxTotal: Cents | undefined;
  /** Steps of which no trace was found are sent again. */
  readonly resendAbsent: boolean;
  /** Lets another apply of the fleet begin. */
  release(): Promise<void>;
}

const COLUMNS: readonly Column[] = [
  { field: 'name', title: 'NAME', kind: 'text', priority: 1 },
  { field: 'do', title: 'DO', kind: 'word', priority: 1 },
];

/** Guards, asks and sends. Throws before anything is sent: `guarded`, `insufficient_funds`, `not_confirmed`. */
export async function carryOut(ctx: Context, { fleet, word }: NamedFleet, carrying: Carrying): Promise<Shown> {
  const { document, concurrency, maxTotal, resendAbsent, release } = carrying;
  if (document.steps.length === 0) return nothingToDo(ctx, word, carrying);
  const rows = rowsOfSteps(document.steps, fleet);
  const plan: RunPlan = {
    command: 'fleet apply',
    rows,
    digest: document.id,
    bulk: true,
    marker: true,
    key: document.id,
    markerPrefix: markPrefix(fleet.name),
    phased: true,
    again: true,
    resendAbsent,
    ...(maxTotal !== undefined && { maxTotal }),
  };
  const prepared = await (await ctx.journal()).prepare(plan);
  const spending = spendingOf(rows);
  const operations = [...new Set(rows.map(({ operation }) => operation))];
  const change: Change = {
    audited: { event: 'run', operation: operations[0] ?? 'cards.create', rows: rows.length, ...moved(spending.total) },
    operations,
    async check() {
      refuseOverCaps({ document });
      refuseLowWallet(document);
      if (maxTotal !== undefined && spending.total > maxTotal) throw overMaxTotal(spending.total, maxTotal);
    },
    ask: () => askForAll(ctx, document),
  };
  if (ctx.dryRun) {
    await ctx.pipeline.foresee(change, spending);
    await tellPending(ctx.notice, prepared);
    return showPlanned(prepared.requests, { isList: true });
  }
  const admitted = await ctx.pipeline.admit(change);
  const telling = tellingOf(document);
  const shown = driveRun(ctx, {
    concurrency,
    keepGoing: false,
    skipped: [],
    telling,
    beforePhase: phase => lowWallet(ctx, document, phase),
    begin: () =>
      admitted.begin({ lines: 'run', op: prepared.op, spending, open: () => opened(ctx, prepared, release) }),
  });
  const isWatched = document.totals.terminate > 0 && (await ctx.identity()).mode !== 'sandbox';
  return withPins(isWatched ? await watchingWallet(ctx, shown, telling) : shown, { telling, word });
}

async function opened(ctx: Context, prepared: PreparedRun, release: () => Promise<void>): Promise<Run> {
  try {
    const run = holding(await prepared.begin(), release);
    ctx.notice(`${run.op}. If anything stops this run: cardwright ops resume ${run.op}`);
    return run;
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

function moved(total: Cents) {
  return total > 0 ? { amount: toUsd(total) } : {};
}

/** The fleet is held as long as the run. */
function holding(run: Run, release: () => Promise<void>): Run {
  return {
    ...run,
    get rows() {
      return run.rows;
    },
    async [Symbol.asyncDispose]() {
      try {
        await run[Symbol.asyncDispose]();
      } finally {
        await release();
      }
    },
  };
}

interface Pinning {
  readonly telling: Pick<ReturnType<typeof tellingOf>, 'pins'>;
  /** The fleet file as a word of a command. */
  readonly word: string;
}

/** A card that nobody can tell is told by its id from then on. */
export function withPins(shown: Shown, { telling: { pins }, word }: Pinning): Shown {
  const { failure } = shown;
  if (typeof failure !== 'function') return shown;
  return {
    ...shown,
    failure() {
      const found = failure();
      if (found === undefined || pins.length === 0) return found;
      const notes = [...(found.facts.notes ?? []), 'Write its id into the file, so that it is known by it:', ...pins];
      return found.with({ notes, hint: `cardwright fleet validate ${word}` });
    },
  };
}

/** Name and deed of each row, and what was spent. */
export function tellingOf({ steps, fleet, id }: PlanDocument) {
  const byRow = new Map(steps.map(step => [step.row, step]));
  const pins: string[] = [];
  let [spent, returned] = [0, 0];
  return {
    columns: COLUMNS,
    /** Lines of the file for cards that were made and do not show their marker. */
    pins,
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
    /** Cents that the wallet should have more than before, by the rows that are done. */
    change: (): Cents => cents(returned - spent),
    page: (): Row => ({ fleet, plan: id, spent: toUsd(cents(spent)) }),
  };
}

/** The wallet after terminations is compared with what their cards held: a service may pay it back later, or never. */
async function watchingWallet(
  ctx: Context,
  shown: Shown,
  { change }: Pick<ReturnType<typeof tellingOf>, 'change'>,
): Promise<Shown> {
  const { listing } = shown;
  if (listing === undefined) return shown;
  const before = toCents((await ctx.read('wallet.get', {})).balance);
  async function* batches() {
    if (listing !== undefined) yield* listing.batches;
    const remark = await walletRemark(ctx, before, change());
    if (remark !== undefined) ctx.notice(remark);
  }
  return { ...shown, listing: { ...listing, batches: batches() } };
}

async function walletRemark(ctx: Context, before: Cents, change: Cents): Promise<string | undefined> {
  try {
    const now = toCents((await ctx.read('wallet.get', {})).balance);
    const short = cents(before + change - now);
    if (short <= 0) return undefined;
    return `note: the wallet went from ${dollars(before)} to ${dollars(now)}, ${dollars(short)} less than the done steps explain. The balance of a terminated card may come later, and others may use the wallet: cardwright wallet`;
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
    return undefined;
  }
}

/** Before the first step that spends: what came back meanwhile is in the wallet, and so is what others have taken. */
async function lowWallet(ctx: Context, { totals, caps }: PlanDocument, phase: number): Promise<CliError | undefined> {
  if (phase < CREATE_PHASE || totals.spend === 0) return undefined;
  if (phase > CREATE_PHASE && totals.create > 0) return undefined;
  const there = toCents((await ctx.read('wallet.get', {})).balance);
  const needed = cents(toCents(totals.spend) + toCents(caps.wallet_reserve));
  if (there >= needed) return undefined;
  return new CliError('insufficient_funds', {
    message: `the wallet is too low: ${dollars(needed)} are needed with the reserve, ${dollars(there)} there. Nothing was spent`,
    hint: 'cardwright wallet addresses',
    outcome: 'not_sent',
  });
}

/** One question; the number of steps is typed where they cannot be undone, or the key is live. */
async function askForAll(ctx: Context, document: PlanDocument): Promise<void> {
  if (ctx.yes) return;
  const { mode } = await ctx.identity();
  const irreversible = document.totals.terminate > 0;
  const typed = { what: 'their count', expect: String(document.steps.length) } as const;
  const counts = countsText(document);
  const { spend } = document.totals;
  await ctx.ask({
    intent: `Apply ${document.fleet}: ${counts}${spend === 0 ? '' : `, ${dollars(toCents(spend))} in all`}`,
    irreversible,
    command: sameCommandWith('--yes'),
    ...((irreversible || mode === 'live') && { typed }),
  });
}

function overMaxTotal(total: Cents, most: Cents): CliError {
  return new CliError('guarded', {
    reason: 'max_total',
    message: `the plan spends ${dollars(total)}, more than --max-total ${dollars(most)}`,
    notes: ['Look at the plan, or give a higher --max-total.'],
    outcome: 'not_sent',
  });
}

/** What an apply leaves to a person; undefined for nothing. */
function waitingText({ blocked, held_back: held }: PlanDocument, word: string): string | undefined {
  const left = blocked.length + held.reduce((all, { count }) => all + count, 0);
  if (left === 0) return undefined;
  return `${left} ${left === 1 ? 'waits' : 'wait'} for a person: cardwright fleet plan ${word}`;
}

async function nothingToDo(ctx: Context, word: string, { document, release }: Carrying): Promise<Shown> {
  await release();
  const waiting = waitingText(document, word);
  const none = waiting === undefined ? 'need no step' : 'have no step by itself';
  ctx.notice(`The cards of ${document.fleet} ${none}.${waiting === undefined ? '' : ` ${waiting}`}`);
  async function* batches() {
    yield [];
  }
  return {
    listing: { batches: batches(), page: () => ({ total: 0, done: 0, ...tellingOf(document).page() }) },
    noun: 'row',
    idField: 'card_id',
    columns: [...RESULT_COLUMNS, ...COLUMNS],
    changedNothing: true,
  };
}
