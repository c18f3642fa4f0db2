/** The `CARDWRIGHT_` variables of the environment, as all of them are read. */
import { usage } from './errors.ts';

const OURS = 'CARDWRIGHT_';

/** What help and `docs/guide/service.md` say of it. */
export const EMPTY_VARIABLES = `A variable ${OURS}… that is set and empty is refused (exit 2).`;

/**
 * Throws `usage` for a variable of ours that is set and empty: a CI job that lacks a secret or a setting has one, and what
 * it should have chosen must not be chosen otherwise.
 */
export function refuseEmptyVariables(env: Readonly<Record<string, string | undefined>>): void {
  const empty = Object.keys(env).find(name => name.startsWith(OURS) && env[name] === '');
  if (empty === undefined) return;
  throw usage(`${empty} is set and empty`, `unset ${empty}`);
}
