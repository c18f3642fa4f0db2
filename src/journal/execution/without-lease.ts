/**
 * A row whose SENT is written down, and which may not leave any more: the process stood still, and its lease is over or in other
 * hands. SENT is taken back where the journal still takes a record of this process.
 */
import { CliError } from '../../core/errors.ts';
import type { RunContext } from './run-context.ts';
import type { Sending } from './step.ts';

/** Throws `guarded` where the row may not leave; what is known of it is recorded, or told. */
export async function refuseWithoutLease(
  context: RunContext,
  row: number,
  { resent }: Pick<Sending, 'resent'>,
): Promise<void> {
  let refusal: unknown;
  try {
    if (await context.mayLeave()) return;
    refusal = takenOver(context.plan.op);
  } catch (thrown) {
    refusal = thrown;
  }
  // What was sent before may have arrived, whatever becomes of this one.
  if (resent || !(refusal instanceof CliError)) throw refusal;
  const message = 'the process stood still until its lease was over, before it was sent';
  try {
    await context.write({ t: 'NOTSENT', row, kind: 'unreachable', message, at: context.clock.now() });
  } catch {
    throw refusal.with({ notes: [...(refusal.facts.notes ?? []), notRecorded(context.plan.op, row)] });
  }
  throw refusal;
}

/** Another process may have it by now, and looks for what this one would send. */
function takenOver(op: string): CliError {
  return new CliError('guarded', {
    message: `${op} is no longer in the hands of this process; nothing more is sent`,
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}

/** Who has the op now may have sent the row himself: a hint to call it not done would be wrong. */
function notRecorded(op: string, row: number): string {
  return `This process has sent nothing of row ${row}, and could not record that: the journal has the row as sent. The next one who works on ${op} looks for its effect first.`;
}
