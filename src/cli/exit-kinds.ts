/** Which kinds of failure a command can end with, for its help page and the command tree. */
import type { Operation } from '../contract/operation.ts';
import { REFUSALS, type RefusalName } from '../contract/refusals.ts';
import { ERROR_KINDS, type ErrorKind } from '../errors.ts';

const ANYTHING: ErrorKind[] = [
  'not_confirmed',
  'not_found',
  'refused',
  'rate_limited',
  'insufficient_funds',
  'contract_mismatch',
];

/** Kinds of its operation's refusals, and what every command can meet, in the order of exit codes. */
export function exitKinds(row: Operation | undefined): readonly ErrorKind[] {
  const refused = (row?.fails ?? []).map((name: RefusalName) => REFUSALS[name].kind as ErrorKind);
  const always: ErrorKind[] = row === undefined ? ['usage'] : ['usage', 'not_authenticated', 'unreachable'];
  const writes: ErrorKind[] = row === undefined || row.effect === 'read' ? [] : ['outcome_unknown', 'guarded'];
  const asks: ErrorKind[] = row?.effect === 'irreversible' || row?.effect === 'reveals-secret' ? ['not_confirmed'] : [];
  // A request in the caller's own words may be every operation.
  const open: ErrorKind[] = row?.raw === true ? ANYTHING : [];
  return [...new Set([...always, ...asks, ...refused, ...writes, ...open])].sort(
    (a, b) => ERROR_KINDS[a].exit - ERROR_KINDS[b].exit,
  );
}
