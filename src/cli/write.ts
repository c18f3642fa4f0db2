/**
 * The one way a command changes anything: guard, dry run, confirmation by the row's effect, then the request. The
 * effect is a column of the contract, so no command can forget it.
 */

import type { Input, WriteName } from '../contract/calls.ts';
import { LIMITS } from '../contract/limits.ts';
import { CALLS } from '../contract/raw.ts';
import type { PlannedRequest, Reader, Service } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, cents, dollars, plainAmount, toCents } from '../core/money.ts';
import { shellWord } from '../core/shell-quote.ts';
import { type HoldSpending, spendingOf } from '../core/spending.ts';
import type { Journal } from '../journal/types.ts';
import type { Prompts } from '../terminal/prompts.ts';
import { nobodyToAsk } from './confirm.ts';
import type { WriteOptions, Written } from './context.ts';
import { guardEffect } from './guard.ts';
import type { Identity } from './identity.ts';
import type { JournaledResult, JournaledWrite } from './journaled.ts';
import { afterwards } from './post-effect-error.ts';
import { learnedFrom, type Recorder, recordOf } from './record.ts';

/** Thrown in a dry run in place of sending; the run prints what was planned and ends with 0. */
export class DryRun extends Error {
  override readonly name = 'DryRun';
}

export interface WriteSettings {
  readonly identity: () => Promise<Identity>;
  readonly service: () => Promise<Service>;
  readonly reader: () => Promise<Reader>;
  readonly prompts: Prompts;
  readonly canAsk: boolean;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly live: string | undefined;
  readonly readOnly: () => Promise<boolean>;
  /** Dry runs put their requests here. */
  readonly planned: PlannedRequest[];
  readonly signal: AbortSignal;
  readonly journal: () => Promise<Journal>;
  readonly recorder: Recorder;
  readonly holdSpending: HoldSpending;
}

interface Answer {
  readonly result: unknown;
  readonly changed: boolean;
  readonly reread: boolean;
  /** Of a journaled write. */
  readonly op?: string;
}

/** What of an input an explanation may name. */
interface Asked extends Readonly<Record<string, unknown>> {
  readonly amount?: Cents;
  readonly card_id?: string;
  readonly bin_id?: string;
}

export function createWriter(settings: WriteSettings) {
  async function write<N extends WriteName, Before = undefined>(
    operation: N,
    input: Input<N>,
    options: WriteOptions<Before>,
  ): Promise<Written<N, Before>> {
    const service = await settings.service();
    const { key, marker = true, body } = options;
    const planned = service.plan(operation, input as never, { key, body });
    const wanted = { operation, input: input as Asked, key, marker, body, before: undefined };
    if (settings.dryRun) {
      await foreseen(wanted);
      settings.planned.push(...(movesMoney(operation) ? await preview(wanted) : [planned]));
      throw new DryRun(options.intent);
    }
    const verdict = await guard(operation, { named: true });
    if (!options.confirmed) await confirm(operation, input as object, options.intent, verdict);
    const before = options.before ? await beforeOf(options.before(await settings.reader())) : undefined;
    const sent = { key: planned.idempotencyKey, signal: settings.signal, body };
    const sending = settings.recorder.around(
      recordOf(operation, input as Asked, key),
      async (): Promise<Answer> =>
        movesMoney(operation) ? journaled({ ...wanted, before }) : service.send(operation, input as never, sent),
      ({ result, op }) => ({ ...learnedFrom(result), ...(op !== undefined && { op }) }),
    );
    const answered = await sending.catch(async thrown => {
      throw await inTheUsersNumbers(ownKeyReused(thrown, options.key), operation, input as Asked, settings.reader);
    });
    const { result, changed, reread } = answered;
    return { result: result as Written<N, Before>['result'], changed, reread, before };
  }

  /** A dry run ends as the command would: limits and settings refuse it too. What would be asked or said is not. */
  async function foreseen(write: JournaledWrite): Promise<void> {
    await guard(write.operation, { named: true });
    if (!movesMoney(write.operation)) return;
    const { planOfOne } = await import('./journaled.ts');
    // A key of the caller leads to the run that has it.
    if (write.key === undefined) await (await settings.journal()).refuseTwin(planOfOne(write));
    await settings.holdSpending(spendingOf(planOfOne(write).rows));
  }

  /** `named`: the caller gave the ids, and no file or condition did. */
  async function guard(operation: WriteName, { named }: { readonly named: boolean }): Promise<'go' | 'ask'> {
    const { dryRun } = settings;
    return guardEffect({
      identity: await settings.identity(),
      effect: CALLS[operation].effect,
      safeDirection: named && operation === 'cards.freeze',
      readOnly: await settings.readOnly(),
      // In place of the question a dry run shows what would be sent.
      canAsk: settings.canAsk || dryRun,
      yes: settings.yes || dryRun,
      live: settings.live,
    });
  }

  /** For a run of rows: the live guard for each kind of operation in it, and one question where one is due. */
  async function guardRun(operations: readonly WriteName[], intent?: string): Promise<void> {
    const verdicts = new Set<'go' | 'ask'>();
    for (const operation of new Set(operations)) verdicts.add(await guard(operation, { named: false }));
    if (intent === undefined || settings.yes || !verdicts.has('ask')) return;
    const { profile } = await settings.identity();
    await agreed(settings.prompts.confirm(`${intent} with the live key of ${profile}?`, { flag: '--yes' }));
  }

  /** What left the wallet, or may have, stays counted against the limit of the day. */
  async function journaled(write: JournaledWrite) {
    const { planOfOne, writeJournaled } = await import('./journaled.ts');
    const spending = spendingOf(planOfOne(write).rows);
    if (spending.total === 0 && !spending.untold)
      return writeJournaled(await settings.journal(), write, await settings.reader());
    const hold = await settings.holdSpending(spending);
    let written: JournaledResult;
    try {
      const reader = await settings.reader();
      written = await writeJournaled(await settings.journal(), write, reader, op => hold.nameOp(op));
    } catch (thrown) {
      const outcome = thrown instanceof CliError ? thrown.facts.outcome : 'unknown';
      const unspent = outcome === 'refused' || outcome === 'not_sent' ? spending.total : cents(0);
      // What became of the write is what the user must see; an amount that cannot be let go stays counted.
      await hold.end(unspent).catch(() => undefined);
      throw thrown;
    }
    await hold.end(cents(0)).catch((thrown: unknown) => {
      throw afterwards(thrown, write.operation, 'the limit of the day could not be written');
    });
    return written;
  }

  async function preview(write: JournaledWrite): Promise<Iterable<PlannedRequest>> {
    const { planOfOne } = await import('./journaled.ts');
    return (await settings.journal()).preview(planOfOne(write));
  }

  async function confirm(operation: WriteName, input: object, intent: string, verdict: 'go' | 'ask'): Promise<void> {
    const irreversible = CALLS[operation].effect === 'irreversible';
    if (settings.yes || (!irreversible && verdict === 'go')) return;
    if (!settings.canAsk) throw nobodyToAsk(intent, commandFor(operation, Object.values(input).map(String)));
    const { profile, mode } = await settings.identity();
    if (irreversible && 'card_id' in input) {
      const cardId = String(input.card_id);
      const card = await (await settings.reader()).read('cards.get', { card_id: cardId });
      if (card.status === 'terminated') return;
      const facts = [`ending ${card.last4}`, card.label && JSON.stringify(card.label), card.status, balanceOf(card)];
      const question = `${intent} (${facts.filter(Boolean).join(', ')})? This cannot be undone. Type the last four digits`;
      await agreed(settings.prompts.typed(question, { expect: card.last4, flag: '--yes' }));
      return;
    }
    const where = mode === 'live' ? ` with the live key of ${profile}` : '';
    await agreed(settings.prompts.confirm(`${intent}${where}?`, { flag: '--yes' }));
  }

  /** One question for several targets, before the first request. */
  async function confirmCount(operation: WriteName, ids: readonly string[]): Promise<void> {
    if (settings.dryRun || settings.yes || CALLS[operation].effect !== 'irreversible') return;
    const [, verb = operation] = operation.split('.');
    const intent = `${verb[0]?.toUpperCase()}${verb.slice(1)} ${ids.length} cards`;
    if (!settings.canAsk) throw nobodyToAsk(intent, commandFor(operation, ids));
    const question = `${intent}? This cannot be undone. Type their count`;
    await agreed(settings.prompts.typed(question, { expect: String(ids.length), flag: '--yes' }));
  }

  return { write, confirmCount, guardRun };
}

/** Create, fund, withdraw, and terminate, which moves the balance back: these are journaled. */
function movesMoney(operation: WriteName): boolean {
  const row = CALLS[operation];
  return row.effect === 'moves-money' || (row.effect === 'irreversible' && 'leadsTo' in row);
}

/** The command that needs no question. An operation's words are its command's; ids are all that these take. */
function commandFor(operation: WriteName, ids: readonly string[]): string {
  return `cardwright ${operation.replace('.', ' ')} ${ids.map(shellWord).join(' ')} --yes`;
}

/** Balances before are for showing alone: for a card that is not there the service's answer to the write counts. */
async function beforeOf<Before>(reading: Promise<Before>): Promise<Before | undefined> {
  return reading.catch(thrown => {
    if (thrown instanceof CliError && thrown.kind === 'not_found') return undefined;
    throw thrown;
  });
}

/** A key the caller chose and used before for something else is the caller's matter, not a bug of ours. */
function ownKeyReused(thrown: unknown, key: string | undefined): unknown {
  if (key === undefined || !(thrown instanceof CliError) || thrown.kind !== 'internal') return thrown;
  return new CliError('refused', {
    ...thrown.facts,
    message: `the service knows the idempotency key ${JSON.stringify(key)} from another request than this one; this command has changed nothing`,
    notes: ['No operation of this machine is known under it: another machine or program has used it.'],
    hint: 'the same command with another --idempotency-key',
  });
}

async function agreed(answer: Promise<boolean>): Promise<void> {
  if (await answer) return;
  throw new CliError('not_confirmed', { message: 'not confirmed. Nothing was changed.', outcome: 'not_sent' });
}

function balanceOf(card: { readonly balance: number }): string {
  return dollars(toCents(card.balance));
}

/** The wallet's refusal with what was asked and what is there; the service's own words stay in the error. */
async function inTheUsersNumbers(thrown: unknown, operation: WriteName, input: Asked, reader: () => Promise<Reader>) {
  if (!(thrown instanceof CliError) || thrown.kind !== 'insufficient_funds' || input.amount === undefined)
    return thrown;
  try {
    const wallet = await (await reader()).read('wallet.get', {});
    const there = toCents(wallet.balance);
    const short = cents(input.amount - there);
    return thrown.with({
      message: `the wallet is too low: ${dollars(input.amount)} asked, ${dollars(there)} there, ${dollars(short)} short`,
      hint: affordable(operation, input, there),
    });
  } catch {
    // The wallet could not be read either: the refusal itself is what the user must see.
    return thrown;
  }
}

/** The same command with what the wallet holds, when that is an amount the operation takes. */
function affordable(operation: WriteName, { card_id, bin_id }: Asked, there: Cents): string {
  if (there < LIMITS.fundingAmount.min) return 'cardwright wallet addresses';
  const amount = `--amount ${plainAmount(there)}`;
  return operation === 'cards.fund'
    ? `cardwright cards fund ${shellWord(card_id ?? '')} ${amount}`
    : `cardwright cards create --bin ${shellWord(bin_id ?? '')} ${amount}`;
}
