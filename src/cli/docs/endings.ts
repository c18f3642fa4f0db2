/** How a command can end: of its operation, its effect and what it has to do with. */
import { REFUSALS } from '../../contract/refusals.ts';
import { ERROR_KINDS, type ErrorKind } from '../../core/errors.ts';
import type { Command, Reach } from '../parsing/declaration.ts';

const MET: Readonly<Record<Reach, readonly ErrorKind[]>> = {
  // Standard output that takes no answer is `check_failed`.
  words: ['internal', 'check_failed', 'interrupted', 'terminated'],
  // Profiles, journal and store: not private, locked, damaged; a profile that is not there.
  files: ['not_found', 'guarded'],
  // A service may refuse in words the contract does not list, and answer with what no operation returns.
  service: ['not_authenticated', 'not_found', 'refused', 'rate_limited', 'unreachable', 'contract_mismatch'],
};

const REACHED: Readonly<Record<Reach, readonly ErrorKind[]>> = {
  words: MET.words,
  files: [...MET.words, ...MET.files],
  service: [...MET.words, ...MET.files, ...MET.service],
};

/**
 * Every kind of failure of a command, in the order of exit codes. `own`: it says something of this command, and is not what
 * every command of its reach can meet.
 */
export function endingsOf(command: Command) {
  const refusals = command.row?.fails ?? [];
  const own = new Set<ErrorKind>([
    'usage',
    ...(Object.keys(command.ends) as ErrorKind[]),
    ...refusals.map(name => REFUSALS[name].kind as ErrorKind),
    ...ofEffect(command),
  ]);
  const all = new Set([...own, ...REACHED[command.reach]]);
  return [...all]
    .sort((a, b) => ERROR_KINDS[a].exit - ERROR_KINDS[b].exit)
    .map(kind => {
      const { exit, means }: { readonly exit: number; readonly means: string } = ERROR_KINDS[kind];
      const named = refusals.filter(name => REFUSALS[name].kind === kind);
      const said = command.ends[kind] ?? means;
      return {
        kind,
        exit,
        own: own.has(kind),
        means: named.length === 0 ? said : `${said} (${named.join(', ')})`,
      };
    });
}

/** What the write path and a run of many rows add. */
function ofEffect(command: Command): readonly ErrorKind[] {
  const { effect } = command;
  const writes = command.operation !== undefined && effect !== 'read';
  return [
    ...(effect === 'irreversible' || effect === 'reveals-secret' || writes ? (['not_confirmed'] as const) : []),
    ...(writes ? (['outcome_unknown', 'guarded'] as const) : []),
    // What the journal keeps can be held by a rule.
    ...(effect === 'moves-money' || (writes && (effect === 'irreversible' || command.runFlags !== undefined))
      ? (['pending_approval'] as const)
      : []),
    // A request in the caller's own words may be every operation.
    ...(command.row?.raw ? (['insufficient_funds'] as const) : []),
    ...(command.runFlags === undefined ? [] : (['partly_failed'] as const)),
  ];
}
