/** One money operation through the journal: a run of one row (docs/design/reliability.md, section 5). */
import { CALLS, type WriteName } from '../contract/calls.ts';
import type { Answered, Reader } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import type { Cents } from '../core/money.ts';
import { inputDigest } from '../journal/digest.ts';
import type { Run } from '../journal/run.ts';
import type { EarlierUse, PlannedRow, RowOutcome, RunPlan } from '../journal/types.ts';
import { afterwards, objected } from '../journal/words.ts';

type Values = Readonly<Record<string, unknown>>;

/** What a write shows of itself, whichever way it went. */
export type Shown<Result> = Pick<Answered<Result>, 'result' | 'changed' | 'reread'>;

export interface JournaledWrite extends NamedWrite {
  readonly operation: WriteName;
  readonly input: Values;
}

/** How a write is known in the journal; `body` is the exact text that its input was read from, to which no marker can be added. */
export interface NamedWrite extends Pick<PlannedRow, 'purpose' | 'asked' | 'body'> {
  /** Idempotency key chosen by the caller. */
  readonly key?: string | undefined;
  /** False: a created card carries no marker of the journal, and is never sent twice. */
  readonly marker?: boolean | undefined;
  /** `--intent`: the caller's own name for this one change, of an operation that the journal keeps. */
  readonly intentName?: string | undefined;
  /** Words of the command for the journal, where they are not those of the operation. */
  readonly command?: string | undefined;
}

export interface JournaledResult extends Shown<Values> {
  readonly op: string;
  /** Whether persons have approved it: `Run.isReleased`. */
  readonly isReleased?: boolean | undefined;
}

/** The run of one write. */
export function planOfOne(wanted: JournaledWrite): RunPlan {
  const { operation, input, key, marker = true, intentName: intent, purpose, asked, body } = wanted;
  const { command = operation === 'api.write' ? 'api' : operation.replace('.', ' ') } = wanted;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const row: PlannedRow = {
    row: 1,
    operation,
    input,
    amount: input['amount'] as Cents | undefined,
    cardId: text(input['card_id']),
    // A request in the caller's own words is known by them, in `ops list` and in an error.
    label: operation === 'api.write' ? `${input['method']} ${input['path']}` : text(input['label']),
    body,
    intent,
    purpose,
    asked,
  };
  return { command, rows: [row], digest: inputDigest([row]), bulk: false, marker, key };
}

/**
 * Carries out the only row of a run, and ends it. Throws the outcome's error unless it is done; it carries the op. What
 * an earlier command with the same key has done is read from the service.
 */
export async function executeOnly(
  run: Run,
  { operation, input }: Pick<JournaledWrite, 'operation' | 'input'>,
  reader: Reader,
): Promise<JournaledResult> {
  const outcome = await run.execute(1);
  // Done otherwise than asked: a script that only sees the exit code must not buy it again.
  if (outcome.outcome === 'done' && outcome.error !== undefined) run.leaveUnacknowledged();
  const { objections, corrected, ended } = await run.finish().catch((thrown: unknown) => {
    // What became of the write comes before what became of its journal.
    throw outcome.error ?? afterwards(thrown, operation, 'its journal could not be closed', run.op);
  });
  const error = outcome.error ?? corrected[0]?.error;
  if (error !== undefined) throw objections.length === 0 ? error : alsoObjected(error, objections);
  if (objections.length > 0) throw objected(run.op, objections);
  if (!ended) throw unverified(operation, run.op);
  const { result, changed = true, reread = false } = outcome;
  if (result !== undefined || CALLS[operation].returns.kind === 'none') {
    return { result: result ?? {}, changed, reread, op: run.op, isReleased: run.isReleased };
  }
  const now = await readNow({ operation, input }, outcome, reader).catch((thrown: unknown) => {
    throw afterwards(thrown, operation, 'the card could not be read', run.op);
  });
  return { result: now, changed: false, reread: true, op: run.op };
}

/** What an earlier command with the same intent has done, read from the service; nothing is sent. Throws as `executeOnly`. */
export async function resultBefore(
  { operation, input }: Pick<JournaledWrite, 'operation' | 'input'>,
  { intent, op, settled }: Pick<EarlierUse, 'intent' | 'op'> & { readonly settled: RowOutcome },
  reader: Reader,
): Promise<JournaledResult> {
  if (settled.error !== undefined) throw settled.error;
  const unchanged = { changed: false, reread: true, op };
  // What the service answered then is not kept, and there is nothing that could be read.
  if (operation === 'api.write' || CALLS[operation].returns.kind === 'none') return { ...unchanged, result: {} };
  if (settled.cardId === undefined) throw cardNotKnown(intent, op);
  const now = await readNow({ operation, input }, settled, reader).catch((thrown: unknown) => {
    throw afterwards(thrown, operation, 'the card could not be read', op);
  });
  return { ...unchanged, result: now };
}

function cardNotKnown(intent: string, op: string): CliError {
  return new CliError('check_failed', {
    message: `${op} of the intent ${JSON.stringify(intent)} is done, and which card it made was never recorded; nothing was sent`,
    notes: [
      'Another purchase needs another intent. ops resolve --as done takes the card with --card, before it is recorded without one.',
    ],
    hint: `cardwright ops show ${op}`,
    outcome: 'done',
    op,
  });
}

/** The resource as it is now. */
async function readNow(
  { operation, input }: Pick<JournaledWrite, 'operation' | 'input'>,
  { cardId = '' }: RowOutcome,
  reader: Reader,
): Promise<Values> {
  const card = await reader.read('cards.get', { card_id: cardId });
  if (operation === 'cards.create' || operation === 'cards.terminate') return card;
  const wallet = await reader.read('wallet.get', {});
  const amount = (input['amount'] as number) / 100;
  return { card_id: card.id, amount, card_balance: card.balance, wallet_balance: wallet.balance };
}

/** What became of it is not known, and the verification has seen more than one effect: both are told. */
function alsoObjected(error: CliError, objections: readonly string[]): CliError {
  const { notes = [], evidence } = error.facts;
  return error.with({ notes: [...objections, ...notes], evidence: { ...evidence, objections } });
}

/** Its row is done. Until a resume has verified it, it is not over, and the same command is refused. */
function unverified(operation: string, op: string): CliError {
  return new CliError('check_failed', {
    message: `${operation} is done, and ${op} was not verified`,
    notes: ['Nothing is left to send. This verifies it, and shows what came of it once more:'],
    hint: `cardwright ops resume ${op}`,
    outcome: 'done',
    operation,
    op,
  });
}
