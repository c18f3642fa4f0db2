/** An op of a shared journal that its only operator has taken along to one machine (docs/design/team.md, section 6). */
import { CliError } from '../core/errors.ts';
import type { MovedAway } from './calls.ts';

/** The refusal for everybody else, with the way back, and that of an admin where the machine is gone. */
export function movedAway(op: string, { to }: MovedAway, account: string): CliError {
  const ends = `select cardwright.accept_failover('${account}', 'why', array['${to}']);`;
  return new CliError('guarded', {
    message: `${op} was moved to ${to}, and what was settled there is not known here; nothing was sent`,
    notes: [
      `On that machine this brings it back: cardwright journal move --to shared`,
      `Where it is gone for good, an admin who has looked at the service goes on without it in the database: ${ends}`,
    ],
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}
