/** Accounts of a team's sandbox: made with keys of their own, told, removed. */
import { type DataSet, loadSize } from '../../../contract/sandbox/admin.ts';
import type { DialectName } from '../../../contract/sandbox/faults.ts';
import { CliError } from '../../../core/errors.ts';
import { digestOf } from '../../../core/key-print.ts';
import { Secret } from '../../../core/secret.ts';
import { shellWord } from '../../../core/shell-quote.ts';
import type { Randomness } from '../../../platform/host.ts';
import { deterministicIds } from '../../calls/deterministic-ids.ts';
import { REAL_CLOCK, setClock } from '../../clock/clock.ts';
import { loadDataSet } from '../../data/load.ts';
import type { IdForm } from '../../store/meta.ts';
import { type AccountRow, giveKeys, removeAccount, removeExpired } from '../../store/postgres/accounts.ts';
import { StoreBusy } from '../../store/sql.ts';
import type { OpenDatabase } from './database.ts';

export interface AccountWish {
  readonly name: string;
  readonly seed: number;
  readonly ids: IdForm;
  readonly data: DataSet;
  readonly dialect: DialectName;
  /** ms after which it ends, on the clock of the database; undefined for one without an end. */
  readonly lifetime?: number | undefined;
}

export interface MadeAccount {
  readonly account: string;
  readonly key: Secret;
  readonly token: Secret;
}

/** Makes an account and fills it. Its key and token are told now and never again. Throws `usage` for a name in use. */
export async function makeAccount(
  { accounts, of, clock, shown }: Pick<OpenDatabase, 'accounts' | 'of' | 'clock' | 'shown'>,
  random: Randomness,
  { name, seed, ids, data, dialect, lifetime }: AccountWish,
): Promise<MadeAccount> {
  const text = (bytes: number, form: 'hex' | 'base64url') => Buffer.from(random.bytes(bytes)).toString(form);
  const account = `acct_${text(8, 'hex')}`;
  const key = new Secret(`sk_test_${text(32, 'base64url')}`);
  const token = new Secret(`sandbox_${text(32, 'base64url')}`);
  const facts = { account_id: account, name, instance: text(12, 'hex'), seed, ids, generation: 1, dialect };
  const row = { ...facts, key_digest: null, token_digest: null };
  const isMade = () => accounts.insert(row, lifetime);
  if (!(await isMade()) && !((await removeOver({ accounts, of }, name)) && (await isMade()))) throw taken(name, shown);
  const store = of(account);
  try {
    await store.write(async sql => {
      await setClock(sql, account, REAL_CLOCK);
      const idSource = deterministicIds({ sql, account });
      await loadDataSet(sql, { name: data, account, now: clock.now(), idSource, size: loadSize({}) });
      await giveKeys(sql, account, { key: digestOf(key.expose()), token: digestOf(token.expose()) });
    }, 'large');
  } catch (error) {
    await store.write(sql => removeAccount(sql, account)).catch(() => undefined);
    throw error;
  }
  return { account, key, token };
}

/** Removes an account of that name whose end has come, where no server did so yet; false when there is none. */
async function removeOver({ accounts, of }: Pick<OpenDatabase, 'accounts' | 'of'>, name: string): Promise<boolean> {
  const found = await accounts.named(name);
  if (found === undefined) return true;
  return of(found.account_id)
    .write(sql => removeExpired(sql, found.account_id), 'large')
    .catch(async (error: unknown) => {
      // A server was first.
      if (error instanceof StoreBusy && (await accounts.named(name)) === undefined) return true;
      throw error;
    });
}

/** Lets an account end later. Throws `not_found` for a name that nobody has or whose account has ended, `usage` without an end. */
export async function extendAccount(
  { accounts, shown }: Pick<OpenDatabase, 'accounts' | 'shown'>,
  name: string,
  lifetime: number,
): Promise<AccountRow> {
  const extended = await accounts.extend(name, lifetime);
  if (extended !== undefined) return extended;
  const found = await accounts.named(name);
  throw found?.expires_at === null ? endless(name) : nobody(name, shown);
}

/** Removes an account and everything it holds. Throws `not_found` for a name that nobody has. */
export async function endAccount(
  { accounts, of, shown }: Pick<OpenDatabase, 'accounts' | 'of' | 'shown'>,
  name: string,
) {
  const found = await accounts.named(name);
  if (found === undefined) throw nobody(name, shown);
  const write = of(found.account_id).write(sql => removeAccount(sql, found.account_id), 'large');
  await write.catch(async (error: unknown) => {
    const isGone = error instanceof StoreBusy && (await accounts.named(name))?.account_id !== found.account_id;
    throw isGone ? nobody(name, shown) : error;
  });
  await accounts.forgetExpired();
  return found;
}

/** An account as it is told: nothing of its keys. */
export function accountFacts({ account_id, name, seed, ids, dialect, created_at, expires_at }: AccountRow) {
  const time = (at: number) => new Date(at).toISOString();
  const ends = expires_at === null ? null : time(expires_at);
  return { account: account_id, name, seed, ids, dialect, created_at: time(created_at), expires_at: ends };
}

function taken(name: string, shown: string): CliError {
  return new CliError('usage', {
    message: `the sandbox store has an account ${name} already`,
    hint: `cardwright sandbox accounts list --store ${shellWord(shown)}`,
    outcome: 'not_sent',
  });
}

function nobody(name: string, shown: string): CliError {
  return new CliError('not_found', {
    message: `the sandbox store has no account ${name}`,
    hint: `cardwright sandbox accounts list --store ${shellWord(shown)}`,
    outcome: 'not_sent',
  });
}

function endless(name: string): CliError {
  return new CliError('usage', {
    message: `the account ${name} has no end that could be later`,
    outcome: 'not_sent',
  });
}
