/** One write of a command: what it asks for, what is asked of a person, and what is said where the wallet refuses it. */

import { CALLS, type Input, isJournaled, type Result, type WriteName } from '../contract/calls.ts';
import type { PlannedRequest, Reader, Service } from '../contract/service.ts';
import { CliError, DryRun, undefinedOn } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import { type Cents, cents, dollars, toCents } from '../core/money.ts';
import { sameCommandWithout } from '../core/shell-quote.ts';
import type { DirectWrite } from '../journal/direct.ts';
import type { Journal, PreparedRun } from '../journal/journal.ts';
import type { Run } from '../journal/run.ts';
import { learnedFrom, recordOf } from './audit-record.ts';
import { type Asker, confirmWithPerson, type GuardDecision, tellPending } from './guard.ts';
import type { NamedWrite, Shown } from './journaled-write.ts';
import type { Admitted, Change, Pipeline } from './pipeline.ts';

export interface WriteOptions<Before> extends NamedWrite {
  /** What is being done, for the question, the dry run and errors: `Create a card for $25.00`. */
  readonly intent: string;
  /** Read just before sending, for showing before and after; not read in a dry run. */
  readonly before?: (reader: Reader) => Promise<Before>;
  /** The question was asked already, for several targets at once. */
  readonly confirmed?: boolean;
  /** False: what an earlier command with the same name has done is refused and not shown; who began it is still to see it. */
  readonly showsEarlier?: false | undefined;
}

export interface WriteResult<N extends WriteName, Before> extends Shown<Result<N>> {
  readonly before: Before | undefined;
  /** Of a change that was named. */
  readonly intent?: UsedIntent;
}

/** What came of a name. */
export interface UsedIntent {
  readonly name: string;
  readonly op: string;
  /** An earlier command with this name had begun it; one that was held until others approved it has begun nothing. */
  readonly repeated: boolean;
  /** The result of the earlier one was never shown, and is not shown now. */
  readonly isUnacknowledged?: boolean | undefined;
}

export interface WriteSettings extends Asker, Pick<DirectWrite, 'clock' | 'random'> {
  readonly pipeline: Pipeline;
  readonly service: () => Promise<Service>;
  readonly reader: () => Promise<Reader>;
  readonly yes: boolean;
  readonly dryRun: boolean;
  /** Dry runs put their requests here. */
  readonly planned: PlannedRequest[];
  readonly signal: AbortSignal;
  readonly notice: (text: string) => void;
  readonly journal: () => Promise<Journal>;
  /** Told of every operation of the journal that was executed. */
  readonly onOp: (op: string) => void;
}

interface Answer extends Shown<unknown> {
  readonly before?: unknown;
  /** Of a journaled write. */
  readonly op?: string;
  readonly intent?: UsedIntent;
}

/** A write with its request made; nothing was written or sent. */
interface Prepared {
  readonly requests: Iterable<PlannedRequest>;
  /** Of a journaled write. */
  readonly plan?: PreparedRun;
  /** What is left of the pipeline once it is admitted. */
  execute(admitted: Admitted): Promise<Answer>;
}

export function createWriter(settings: WriteSettings) {
  async function write<N extends WriteName, Before = undefined>(
    operation: N,
    input: Input<N>,
    options: WriteOptions<Before>,
  ): Promise<WriteResult<N, Before>> {
    const wanted = { operation, input: input as NamedInput, ...options };
    const prepared = isJournaled(operation) ? await throughJournal(settings, wanted) : await straight(settings, wanted);
    if ('result' in prepared) return prepared as WriteResult<N, Before>;
    if (settings.dryRun) {
      await settings.pipeline.foresee(changeOf(settings, wanted));
      if (prepared.plan !== undefined) await tellPending(settings.notice, prepared.plan);
      settings.planned.push(...prepared.requests);
      throw new DryRun(options.intent);
    }
    const admitted = await settings.pipeline.admit(changeOf(settings, wanted));
    const answer = await prepared.execute(admitted).catch(async thrown => {
      throw await explainRefusal(thrown, wanted.input, settings);
    });
    return answer as WriteResult<N, Before>;
  }

  return {
    write,
    confirmCount: (operation: WriteName, ids: readonly string[]) => confirmCount(settings, operation, ids),
  };
}

/** What of an input an error or a question may name. */
interface NamedInput extends Readonly<Record<string, unknown>> {
  readonly amount?: Cents;
  readonly card_id?: string;
}

interface Wanted extends WriteOptions<unknown> {
  readonly operation: WriteName;
  readonly input: NamedInput;
}

/** Create, fund, withdraw and terminate: a run of one row. The answer, where an earlier command with the same name has done it. */
async function throughJournal(settings: WriteSettings, { before, ...wanted }: Wanted): Promise<Prepared | Answer> {
  const { executeOnly, planOfOne, resultBefore } = await import('./journaled-write.ts');
  const plan = planOfOne(wanted);
  const { intentName: name, showsEarlier } = wanted;
  const journal = await settings.journal();
  const earlier = name === undefined ? undefined : (await journal.earlierUses(plan)).get(1);
  const named = (answer: Answer & { readonly op: string }, repeated: boolean): Answer => {
    settings.onOp(answer.op);
    const isUnacknowledged = repeated && showsEarlier === false && earlier?.settled === undefined;
    return name === undefined
      ? answer
      : { ...answer, intent: { name, op: answer.op, repeated, ...(isUnacknowledged && { isUnacknowledged }) } };
  };
  if (earlier?.settled !== undefined) {
    const { settled } = earlier;
    const before = await resultBefore(wanted, { ...earlier, settled }, await settings.reader());
    const objected = settings.dryRun || showsEarlier === false ? undefined : await journal.shown([earlier]);
    if (objected !== undefined) throw objected;
    return named(before, true);
  }
  if (settings.dryRun && earlier !== undefined) {
    // It goes on with what was begun: no new request that could be shown.
    throw new CliError('outcome_unknown', {
      message: `the intent ${name} has begun ${earlier.op}, which is not finished; this command would go on with it`,
      hint: `cardwright ops resume ${earlier.op} --dry-run`,
      op: earlier.op,
      outcome: 'unknown',
    });
  }
  const prepared = await journal.prepare(plan);
  let seen: unknown;
  return {
    requests: prepared.requests,
    plan: prepared,
    async execute(admitted) {
      const open = async () => {
        // For showing alone: of a card that is not there the service's answer to the write counts.
        if (earlier === undefined) seen = before && (await undefinedOn('not_found', before(await settings.reader())));
        return prepared.begin();
      };
      const execute = async (run: Run) => {
        if (showsEarlier === false && run.op !== prepared.op && run.isReleased !== true) run.leaveUnacknowledged();
        return executeOnly(run, wanted, await settings.reader());
      };
      const answer = await admitted.execute({ open }, { execute, learn: learnedFromAnswer });
      const { isReleased, ...shown } = answer;
      return { ...named(shown, answer.op !== prepared.op && isReleased !== true), before: seen };
    },
  };
}

/** Changes that no journal keeps. */
async function straight(
  settings: WriteSettings,
  { operation, input, key, intentName, body }: Wanted,
): Promise<Prepared> {
  if (intentName !== undefined) throw notNamed(operation);
  const service = await settings.service();
  const planned = service.plan(operation, input as never, { key, body });
  const execute = async (): Promise<Answer> => {
    const { directWrite } = await import('../journal/direct.ts');
    const { mode } = await settings.identity();
    const { clock, random, signal } = settings;
    const keyOfCaller = key !== undefined;
    return directWrite({ service, operation, input, planned, keyOfCaller, mode, clock, random, signal });
  };
  const open = async () => {
    // Freezing is the safe direction: it waits for no journal, nor for its address to be right.
    if (operation !== 'cards.freeze') await (await settings.journal()).admitUnkept();
    return undefined;
  };
  return {
    requests: [planned],
    execute: admitted => admitted.execute({ open }, { execute, learn: learnedFromAnswer }),
  };
}

function changeOf(settings: WriteSettings, { operation, input, intent, key, confirmed = false }: Wanted): Change {
  return {
    audited: recordOf(operation, input, key),
    operations: [operation],
    named: true,
    ...(!confirmed && { ask: verdict => askForOne(settings, { operation, input, intent }, verdict) }),
  };
}

/** What cannot be undone is asked for by the last four digits of its card. */
async function askForOne(
  settings: WriteSettings,
  { operation, input, intent }: Wanted,
  verdict: GuardDecision,
): Promise<void> {
  const irreversible = CALLS[operation].effect === 'irreversible';
  if (settings.yes || (!irreversible && verdict === 'go')) return;
  if (!settings.canAsk || !irreversible || input.card_id === undefined) return confirmWithPerson(settings, { intent });
  const card = await (await settings.reader()).read('cards.get', { card_id: input.card_id });
  if (card.status === 'terminated') return;
  const label = card.label ? [JSON.stringify(card.label)] : [];
  const facts = [`ending ${card.last4}`, ...label, card.status, dollars(toCents(card.balance))];
  const typed = { what: 'the last four digits', expect: card.last4 } as const;
  await confirmWithPerson(settings, { intent, facts, irreversible, typed });
}

/**
 * One question for several targets, before the first request: where the change cannot be undone, and where the guard asks
 * for one. Each of them is a write of its own then, and is not asked for again.
 */
async function confirmCount(settings: WriteSettings, operation: WriteName, ids: readonly string[]): Promise<void> {
  if (settings.dryRun || settings.yes) return;
  const irreversible = CALLS[operation].effect === 'irreversible';
  const [, verb = operation] = operation.split('.');
  const intent = `${verb[0]?.toUpperCase()}${verb.slice(1)} ${ids.length} cards`;
  const typed = { what: 'their count', expect: String(ids.length) } as const;
  const question = { intent, irreversible, typed };
  await settings.pipeline.admit({
    audited: { event: 'run', operation, rows: ids.length },
    operations: [operation],
    named: true,
    ask: async verdict => {
      if (irreversible || verdict === 'ask') await confirmWithPerson(settings, question);
    },
  });
}

/** It can be done twice without harm, or shows by itself: the journal does not keep it. */
function notNamed(operation: WriteName): CliError {
  return new CliError('usage', {
    message: `--intent is for operations that move money, and ${operation} does not`,
    hint: sameCommandWithout('--intent'),
    outcome: 'not_sent',
    operation,
  });
}

function learnedFromAnswer({ result, op }: Answer) {
  return { ...learnedFrom(result), ...(op !== undefined && { op }) };
}

/** How a wallet that is short of money is filled; in the sandbox by a deposit of whole thousands, and its confirmation. */
export function fillingWallet(
  { mode }: Pick<Identity, 'mode'>,
  short: Cents,
): Pick<CliError['facts'], 'hint' | 'notes'> {
  if (mode !== 'sandbox') return { hint: 'cardwright wallet addresses' };
  const deposit = 1000 * Math.ceil(short / 100_000);
  return {
    hint: `cardwright sandbox simulate deposit --currency usdt --amount ${deposit}`,
    notes: ['A deposit counts once it is confirmed. After it: cardwright sandbox clock advance --by 1h'],
  };
}

/** The error of a refused write; the wallet's with what was asked and what is there, the service's own words stay in it. */
async function explainRefusal(
  refused: unknown,
  { amount }: NamedInput,
  { reader, identity }: Pick<WriteSettings, 'reader' | 'identity'>,
): Promise<unknown> {
  if (!(refused instanceof CliError) || refused.kind !== 'insufficient_funds' || amount === undefined) return refused;
  try {
    const wallet = await (await reader()).read('wallet.get', {});
    const there = toCents(wallet.balance);
    // It was topped up meanwhile.
    if (there >= amount) return refused;
    const short = cents(amount - there);
    return refused.with({
      message: `the wallet is too low: ${dollars(amount)} asked, ${dollars(there)} there, ${dollars(short)} short`,
      ...fillingWallet(await identity(), short),
    });
  } catch {
    // The wallet could not be read either: the refusal itself is what the user must see.
    return refused;
  }
}
