/** Whether an account lists the API key of a run, looked at before a change is refused because it does not. */
import { CliError } from '../core/errors.ts';
import type { JournalStatus } from './calls.ts';
import type { JournalConnection } from './connect.ts';
import { type ActsAs, isAccountOf, keyNotListed } from './refusals.ts';
import { statementsOver } from './statements.ts';

export interface ListedKey {
  readonly listed: boolean;
  /** What each change ends with where it is not. */
  readonly refusal: CliError;
}

/** Both may throw as the profile and its key do. */
export interface KeyOfRun {
  readonly actsAs: () => Promise<ActsAs>;
  /** Print of the API key in an account. */
  readonly accountPrint: (account: string) => Promise<string>;
}

/**
 * Undefined where no change could use the key: the role does not operate, the account is one of another service, or this run
 * has no key. Throws as a call of the database does.
 */
export async function listedKey(
  connection: JournalConnection,
  status: JournalStatus,
  run: KeyOfRun,
): Promise<ListedKey | undefined> {
  const { account } = status;
  const print = status.can.includes('operate') ? await printFor(status, run) : undefined;
  if (print === undefined) return undefined;
  const listed = await statementsOver(connection).hasKey(account, print);
  return { listed, refusal: keyNotListed({ account, key_print: print }) };
}

/** What is wrong with a profile or its key is no matter of the journal: other commands say so. */
async function printFor(status: JournalStatus, { actsAs, accountPrint }: KeyOfRun): Promise<string | undefined> {
  try {
    return isAccountOf(status, await actsAs()) ? await accountPrint(status.account) : undefined;
  } catch (thrown) {
    if (thrown instanceof CliError) return undefined;
    throw thrown;
  }
}
