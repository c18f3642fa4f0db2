/**
 * The wallet as evidence of a single create. Its card may be listed late, so that its marker alone says too little where the
 * create is sent again (docs/design/reliability.md, section 1, and decision 0025).
 */
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, centsOf, dollars } from '../../core/money.ts';
import { absenceProves, type EvidenceCheck, traceOf } from './evidence.ts';
import { explainedByOthers } from './explained-by-others.ts';
import { othersShown, othersText } from './other-moves.ts';
import type { RunContext } from './run-context.ts';

/** Whether the wallet says something of a row. The other rows of a bulk run move it too; the list of the built-in sandbox is exact. */
function isEvidence(context: RunContext, number: number): boolean {
  const { item } = context.row(number);
  if (item.operation !== 'cards.create' || context.plan.bulk) return false;
  const trace = traceOf(context.row(number), context.markerUsable());
  return trace === 'marker' && !absenceProves(context, trace);
}

/**
 * The wallet just before a create is sent, where it is evidence. Undefined where it is not, or cannot be read: then nothing is
 * sent again. An error where nothing more can be sent now, which costs no card.
 */
export async function walletBefore(context: RunContext, number: number): Promise<Cents | undefined | CliError> {
  if (!isEvidence(context, number)) return undefined;
  try {
    return await walletNow(context.reader);
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
    const isOver = context.stop.aborted || thrown.kind === 'rate_limited' || thrown.facts.outcome === 'not_sent';
    return isOver ? unsentFor(context.row(number).item.operation, thrown) : undefined;
  }
}

/** What the caller has asked for was not sent; that the wallet was asked for first says nothing to him. */
function unsentFor(operation: string, { message, ...error }: CliError): CliError {
  const [, why = message] = /^wallet\.get was not sent: (.*)$/s.exec(message) ?? [];
  return new CliError(error.kind, { ...error.facts, operation, message: `${operation} was not sent: ${why}` });
}

/** A look for the marker that showed nothing, with what the wallet says of it: nothing as well, or it is unclear. */
export async function walletAgrees(context: RunContext, number: number, look: EvidenceCheck): Promise<EvidenceCheck> {
  const seen = await withWallet(context, number, look);
  return seen.wallet === 'untold' || seen.wallet === 'moved' ? { ...seen, found: 'unclear' } : seen;
}

/** The same look, with what the wallet says of it where it is evidence. Reads at most. */
export async function withWallet(context: RunContext, number: number, look: EvidenceCheck): Promise<EvidenceCheck> {
  if (!isEvidence(context, number)) return look;
  const { item, firstSent } = context.row(number);
  const before = firstSent?.wallet;
  const untold = (text: string): EvidenceCheck => ({ ...look, text: `${look.text}; ${text}`, wallet: 'untold' });
  if (before === undefined) return untold('the wallet before is not known');
  // A card without money moves nothing.
  if (!item.amount) return untold('its amount moves no wallet');
  try {
    const lookedAt = context.clock.now();
    const now = await walletNow(context.aside.reader);
    const change = { card: 0, wallet: now - before };
    const wanted = { card: 0, wallet: -item.amount };
    const judged = await explainedByOthers(context, number, { change, wanted, lookedAt });
    const text = `${look.text}; wallet ${dollars(cents(before))} -> ${dollars(now)}${othersText(judged)}`;
    const moved = { ...look.moved, wallet: now - before, ...othersShown(judged) };
    return { ...look, text, moved, wallet: judged.found === 'nothing' ? 'same' : 'moved' };
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
    return { ...untold(`the wallet could not be read: ${thrown.message}`), failed: true };
  }
}

async function walletNow(reader: RunContext['reader']): Promise<Cents> {
  const balance = centsOf((await reader.read('wallet.get', {})).balance);
  if (balance !== undefined) return balance;
  throw new CliError('contract_mismatch', { message: 'the balance of the wallet is not an amount' });
}
