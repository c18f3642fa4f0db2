/** A shared journal that one machine goes on with alone (docs/design/team.md, section 6). */
import { CliError } from '../core/errors.ts';
import { literal } from '../postgres/sql-text.ts';
import type { JournalStatus } from './calls.ts';

export interface LeftAccount {
  readonly account: string;
  /** The machine, role@host. */
  readonly to: string;
  readonly frozen: boolean;
  /** This machine has that name as well, and it is another state folder. */
  readonly isNamesake?: boolean | undefined;
}

/** Undefined while everybody goes on. */
export function leftOf({ account, left_to: to, frozen, role }: JournalStatus, host?: string): LeftAccount | undefined {
  return to === null ? undefined : { account, to, frozen: frozen !== null, isNamesake: to === `${role}@${host}` };
}

/** The way back, and that of an admin where the machine is gone. */
export function leftNotes({ account, to, frozen, isNamesake }: LeftAccount): readonly string[] {
  const ends = `select cardwright.accept_failover('${account}', 'it goes on');`;
  const gone = `select cardwright.accept_failover('${account}', 'why', array[${literal(to)}]);`;
  return [
    ...(isNamesake === true ? ['That is another state folder of a machine with the name of this one.'] : []),
    `${frozen ? `It comes back when an admin has ended the freeze in the database, ${ends} and` : 'It comes back when'} that machine has run: cardwright journal move --to shared`,
    `Where that machine is gone for good, an admin who has looked at the service goes on without it in the database: ${gone}`,
  ];
}

/** The refusal for everybody else. */
export function accountLeft(left: LeftAccount): CliError {
  return new CliError('guarded', {
    message: `the account ${left.account} was moved to one machine, ${left.to}, and what is done there is not known here`,
    notes: leftNotes(left),
    hint: 'cardwright journal status',
    outcome: 'not_sent',
  });
}
