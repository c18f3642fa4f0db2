/** Cards that must not outlive their run: their end stands in a file here and on the card itself before they are made. */

import type { Context } from '../../cli/context.ts';
import type { Input, Result } from '../../contract/calls.ts';
import { CliError } from '../../core/errors.ts';
import { isoTime } from '../../core/iso-time.ts';
import { randomName } from '../../core/random-name.ts';
import { sameCommandWith } from '../../core/same-command.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { Noted } from '../../events/cleanup-log.ts';
import type { GuardDecision } from '../../writes/guard.ts';
import { cannotConfirm } from '../../writes/question.ts';
import type { UsedIntent } from '../../writes/single-write.ts';

/** Metadata of a leased card: `lease_<name> until <ISO time by the service's clock>`. */
export const LEASE_MARK = 'cardwright_lease';

export interface Lease {
  readonly cardId: string;
  readonly noted: Noted;
  ended?: Promise<void>;
}

interface LeaseWishes {
  readonly ttlMs: number;
  /** As `WriteOptions` has them. */
  readonly intentName?: string | undefined;
  readonly asked?: Readonly<Record<string, unknown>> | undefined;
}

/** Makes the card. When it is not known whether there is one, the note stays for the reaper. */
export async function makeLease(
  ctx: Context,
  asked: Input<'cards.create'>,
  { ttlMs, ...named }: LeaseWishes,
): Promise<Lease> {
  const id = `lease_${randomName(ctx.random.bytes(8))}`;
  // The first answer tells the time there.
  await ctx.read('wallet.get', {});
  const until = isoTime(ctx.serviceNow() + ttlMs);
  const body = { ...asked, metadata: { [LEASE_MARK]: `${id} until ${until}` } };
  // The mark of the lease is ours, and another one each time: what is asked for is a lease.
  const asks = { ...named.asked, metadata: { [LEASE_MARK]: 'lease' } };
  const options = {
    intent: 'Lease a card',
    confirmed: true,
    intentName: named.intentName,
    asked: asks,
    showsEarlier: false,
  } as const;
  const create = (begins?: (op: string) => Promise<void>) =>
    ctx.write('cards.create', body, { ...options, begins }).catch((error: unknown) => {
      throw begunBefore(error);
    });
  if (ctx.dryRun) await create();
  const { profile, baseUrl } = await ctx.identity();
  const now = ctx.clock.now();
  const noted = await (await ctx.cleanupLog()).note({
    kind: 'lease',
    profile,
    base_url: baseUrl,
    made_at: now,
    ends_at: now + ttlMs,
    facts: { lease: id },
  });
  try {
    // The reaper asks the journal whether that op may still make the card.
    const { result, intent } = await create(op => noted.add({ op }));
    if (intent?.repeated) {
      await noted.forget();
      throw leasedBefore(intent, result.id);
    }
    await proveOurs(ctx, result, body.metadata[LEASE_MARK]);
    await noted.add({ card_id: result.id });
    return { cardId: result.id, noted };
  } catch (error) {
    const outcome = error instanceof CliError ? error.facts.outcome : 'unknown';
    if (outcome === 'refused' || outcome === 'not_sent') await noted.forget();
    throw error;
  }
}

/** An earlier lease of the same card is in the way: its program may have paid, and its card may be there. */
function begunBefore(error: unknown): unknown {
  if (!(error instanceof CliError) || error.kind !== 'guarded' || error.facts.op === undefined) return error;
  const { notes = [] } = error.facts;
  return error.with({
    notes: [...notes, 'A card that it has left, once that is settled: cardwright cards lease --reap'],
  });
}

/**
 * The program of the earlier command has run, or was stopped, and may have paid: run again it would pay with a card that is
 * over. Where that command never told what came of its card, this one may have made it: no "nothing was sent" then.
 */
function leasedBefore({ name, op, isUntold = false }: UsedIntent, card: string): CliError {
  const intent = JSON.stringify(name);
  const reap = 'A card that a killed run has left: cardwright cards lease --reap';
  if (!isUntold) {
    return new CliError('guarded', {
      message: `the lease of the intent ${intent} was begun before, with ${card}: ${op}; the program was not run`,
      notes: ['Another purchase needs another intent.', reap],
      hint: `cardwright cards get ${shellWord(card)}`,
      outcome: 'not_sent',
      op,
    });
  }
  return new CliError('check_failed', {
    message: `the lease of the intent ${intent} was begun before, and its card is ${card}: ${op}; the program was not run`,
    notes: [
      'Until ops resume has shown its result, the same lease is refused, also with another intent or none.',
      reap,
    ],
    hint: `cardwright ops resume ${op}`,
    outcome: 'done',
    op,
  });
}

/**
 * A card that does not carry the mark of the lease may be anybody's: it is neither used nor terminated. Throws
 * `contract_mismatch` with what to do by hand.
 */
async function proveOurs(ctx: Context, { id }: Result<'cards.create'>, mark: string): Promise<void> {
  // An answer repeats what was asked for; the card itself tells whose it is.
  const card = await ctx.read('cards.get', { card_id: id }).catch((thrown: unknown) => {
    if (!(thrown instanceof CliError)) throw thrown;
    return undefined;
  });
  if (card?.metadata?.[LEASE_MARK] === mark) return;
  throw new CliError('contract_mismatch', {
    message: `a card was requested and ${id} came back, but it does not carry the marker of this lease: it is neither used nor terminated`,
    notes: ['A service that does not return the metadata of a card cannot be used for leases.'],
    hint: `cardwright cards get ${shellWord(id)}`,
    outcome: 'unknown',
    operation: 'cards.create',
  });
}

/** Terminates the card, once. When that fails it is said which card still holds money, and how to end it. */
export function endLease(ctx: Context, lease: Lease): Promise<void> {
  lease.ended ??= terminate(ctx, lease.cardId)
    .then(() => lease.noted.forget())
    .catch((error: unknown) => {
      delete lease.ended;
      throw error;
    });
  return lease.ended;
}

/** `isReaping`: the reaper is no way on from its own failure. */
export async function terminate(ctx: Context, cardId: string, { isReaping = false } = {}): Promise<void> {
  try {
    await ctx.write('cards.terminate', { card_id: cardId }, { intent: `Terminate ${cardId}`, confirmed: true });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { op, notes = [], hint: own = `cardwright cards get ${shellWord(cardId)}` } = error.facts;
    // What is not known is settled first; nothing is sent beside it.
    const isUnknown = op !== undefined && ['outcome_unknown', 'guarded'].includes(error.kind);
    const reap = 'cardwright cards lease --reap --yes';
    const next = isUnknown
      ? [`The leased card ${cardId} may still hold money. When that is clear: ${reap}`]
      : [`The leased card ${cardId} may still hold money.`];
    const hint = isReaping ? own : reap;
    throw error.with({ notes: [...notes, ...next], hint: isUnknown ? `cardwright ops resume ${op}` : hint });
  }
}

/** `amount` as a person reads it. Throws `not_confirmed`. */
export async function confirmLease(ctx: Context, verdict: GuardDecision, amount: string): Promise<void> {
  if (ctx.yes) return;
  const command = sameCommandWith('--yes');
  if (ctx.canAsk) return verdict === 'go' ? undefined : ctx.ask({ intent: `Lease a card with ${amount}`, command });
  throw cannotConfirm(`a lease makes a card with ${amount} and terminates it`, command);
}
