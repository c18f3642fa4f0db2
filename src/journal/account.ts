/**
 * Whose operations these are: an account is known by its address and by the prints of its API keys. What idempotency keys are worth
 * there is known of each API key (docs/design/reliability.md, section 4).
 */
import type { WriteName } from '../contract/calls.ts';
import { KEY_RETENTION } from '../contract/spans.ts';
import { sql, type Transaction } from './database.ts';

/** Who this process acts as. */
export interface Acting {
  readonly profile: string;
  readonly mode: 'sandbox' | 'test' | 'live';
  /** Base address, or that of the built-in sandbox. */
  readonly origin: string;
}

type Finding = Pick<Transaction, 'all'>;

/**
 * The account of this machine's journal that a command acts for; undefined where it has none yet. The same key is the same
 * account at whichever address; another key at the same address may be a replaced one, so that it counts as the same account too.
 */
export async function findAccount(
  tx: Finding,
  { origin, mode }: Acting,
  keyPrint: string,
): Promise<string | undefined> {
  const byKey = mode === 'sandbox' ? undefined : await accountOfKey(tx, mode, keyPrint);
  if (byKey !== undefined) return byKey;
  const [byOrigin] = await tx.all<{ id: string }>(
    sql`select a.id from account a where a.mode = ${mode} and (a.origin = ${origin} or exists
      (select 1 from account_key k where k.account = a.id and k.origin = ${origin})) order by a.id`,
  );
  return byOrigin?.id;
}

/** The account that a key is listed for; undefined where it is listed for none. */
export async function accountOfKey(tx: Finding, mode: string, print: string): Promise<string | undefined> {
  const [row] = await tx.all<{ id: string }>(
    sql`select a.id from account a join account_key k on k.account = a.id where k.print = ${print} and a.mode = ${mode}`,
  );
  return row?.id;
}

/** The account, made where there is none, with the key among those it was used with. */
export async function useAccount(tx: Transaction, acting: Acting, keyPrint: string, holder: string): Promise<string> {
  const { origin, mode } = acting;
  const id = (await findAccount(tx, acting, keyPrint)) ?? `${mode} ${origin}`;
  await tx.run(
    sql`insert into account (id, origin, mode) values (${id}, ${origin}, ${mode}) on conflict (id) do nothing`,
  );
  await tx.run(
    sql`insert into account_key (account, print, origin, listed, listed_by)
      values (${id}, ${keyPrint}, ${origin}, ${await tx.now()}, ${holder}) on conflict (account, print, origin) do nothing`,
  );
  return id;
}

/** Random value of the journal: salt of the prints of keys on one machine. */
export async function journalId(tx: Finding): Promise<string> {
  const [meta] = await tx.all<{ journal: string }>('select journal from meta');
  return meta?.journal ?? '';
}

export type Capability =
  | { readonly key: 'unknown' }
  /** `ttl_ms` is how long the service remembers a key; null where nobody has told. `at` is ms UTC. */
  | {
      readonly key: 'honoured';
      readonly ttl_ms: number | null;
      /** So long a probe has seen a key remembered. */
      readonly proved_ms?: number | undefined;
      readonly at: number;
    }
  | { readonly key: 'ignored'; readonly at: number };

type Found = Partial<Record<WriteName, Capability>>;

/** A sandbox remembers keys as it says. */
export const OF_SANDBOX: Capability = { key: 'honoured', ttl_ms: KEY_RETENTION, at: 0 };

/** What probes have found of a test key; nothing that one account was found to do says anything about another. */
export async function probedOf(tx: Finding, origin: string, keyPrint: string): Promise<Found> {
  const [row] = await tx.all<{ capability: string }>(
    sql`select capability from account_key where print = ${keyPrint} and origin = ${origin} and capability is not null`,
  );
  return row === undefined ? {} : JSON.parse(row.capability);
}

/** Remembers what a probe has found, of a key that the account was used with. */
export async function keepProbed(tx: Transaction, origin: string, keyPrint: string, found: Found): Promise<void> {
  const known = { ...(await probedOf(tx, origin, keyPrint)), ...found };
  await tx.run(
    sql`update account_key set capability = ${JSON.stringify(known)} where print = ${keyPrint} and origin = ${origin}`,
  );
}
