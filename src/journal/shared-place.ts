/**
 * The journal that several people share, as one process uses it: connected to when it is asked, with the account that its API key
 * belongs to, joined once by each machine, and held against what this machine has seen of it.
 */
import { CliError } from '../core/errors.ts';
import { keyPrint } from '../core/key-print.ts';
import type { Secret } from '../core/secret.ts';
import { shellWord } from '../core/shell-quote.ts';
import type { FileDependencies } from '../files/private-files.ts';
import { type Acting, accountOfKey, findAccount, useAccount } from './account.ts';
import { appendLine, outcomeDigest, plannedDigest } from './chain.ts';
import { changesNamed } from './claim.ts';
import { type Database, sql, type Transaction } from './database.ts';
import { openPostgres, type PostgresSettings } from './postgres.ts';
import { type Change, changeOf, insertRecords, opOf } from './records.ts';
import { refuseBesideShared, seenJournalsIn, watched } from './seen-journals.ts';

interface SharedSettings {
  readonly postgres: PostgresSettings;
  readonly acting: () => Promise<Acting>;
  readonly key: () => Promise<Secret>;
  readonly stateFolder: string;
  readonly files: FileDependencies;
  /** The journal of this machine, of what was done before it used the shared one; undefined where there is none. */
  readonly local: () => Promise<Database | undefined>;
  /** Asks a person; false where nobody can be asked. */
  readonly confirm: (question: string) => Promise<boolean>;
}

export type SharedPlace = ReturnType<typeof sharedPlace>;

/** Nothing is connected to yet. */
export function sharedPlace(settings: SharedSettings) {
  const { acting, confirm, stateFolder, files } = settings;
  const { shown, user } = settings.postgres.address;
  const seen = seenJournalsIn(stateFolder, files);
  let connected: Promise<Database> | undefined;
  let readied: Promise<Database> | undefined;

  /** Opens it to read. */
  const existing = (): Promise<Database> => {
    connected ??= openPostgres(settings.postgres).catch((thrown: unknown) => {
      connected = undefined;
      throw thrown;
    });
    return connected;
  };
  const printOf = async (salt: string) => keyPrint(await settings.key(), salt);

  /** The account that the API key belongs to; undefined where the journal does not list the key. */
  async function listed() {
    const [{ mode }, here] = [await acting(), await existing()];
    const print = await printOf(here.id);
    const account = await here.read(tx => accountOfKey(tx, mode, print));
    return account === undefined ? undefined : { journal: here.id, account, print };
  }

  /** Adds the API key to its account, which is made where it is missing. Resolves to the account. */
  async function listKey(): Promise<string> {
    const [who, here] = [await acting(), await existing()];
    const print = await printOf(here.id);
    return here.transaction(async tx => {
      const known = await accountOfKey(tx, who.mode, print);
      if (known !== undefined) return known;
      const account = await useAccount(tx, who, print, user);
      await appendLine(tx, account, { event: 'key', text: `${print} at ${who.origin}` });
      return account;
    });
  }

  async function ready(): Promise<Database> {
    const here = await existing();
    const question = `The shared journal ${shown} does not list this API key yet. Does it belong to the same account?`;
    let known = await listed();
    if (known === undefined && (await confirm(question))) {
      await listKey();
      known = await listed();
    }
    if (known === undefined) throw notListed(shown);
    const { journal, account, print } = known;
    const before = (await seen.read()).filter(each => each.journal === journal && each.account === account);
    const [newest] = before.toSorted((one, other) => other.seq - one.seq);
    let last = newest && { ...newest, print };
    // Another key of the account is known by its print from now on.
    if (last !== undefined && !before.some(each => each.print === print)) await seen.note(last);
    if (last === undefined) {
      await refuseBesideShared(stateFolder, files, settings.key, journal);
      const local = await settings.local();
      if (local !== undefined) {
        const [who, ownPrint] = [await acting(), await printOf(local.id)];
        const own = await local.read(tx => findAccount(tx, who, ownPrint));
        if (own !== undefined) await joinJournal(here, { account, print }, local, own);
      }
      const [row] = await here.read(tx =>
        tx.all<{ seq: number }>(sql`select audit_seq as seq from account where id = ${account}`),
      );
      last = { journal, account, print, shown, seq: row?.seq ?? 0 };
      await seen.note(last);
    }
    return watched(here, seen.note, last);
  }

  return {
    /** The role that this process works as. */
    user,
    seen,
    existing,
    listed,
    listKey,
    /** Opens it to change something: the key is listed, the machine has joined, the database is not behind. */
    open(): Promise<Database> {
      readied ??= ready().catch((thrown: unknown) => {
        readied = undefined;
        throw thrown;
      });
      return readied;
    },
    /** The account of the API key. Throws `guarded` where the journal does not list the key. */
    async account(tx: Pick<Transaction, 'all'>): Promise<string> {
      const [{ mode }, here] = [await acting(), await existing()];
      const account = await accountOfKey(tx, mode, await printOf(here.id));
      if (account === undefined) throw notListed(shown);
      return account;
    },
    /** Closes the connection; the next use opens another one. */
    async close(): Promise<void> {
      const open = connected;
      connected = undefined;
      readied = undefined;
      await (await open?.catch(() => undefined))?.close();
    },
  };
}

function notListed(shown: string): CliError {
  return new CliError('guarded', {
    message: `the shared journal ${shown} does not list this API key, so that nobody knows whether it is the same account`,
    notes: ['It is listed once, by whoever may operate:'],
    reason: 'key_not_listed',
    hint: `cardwright journal init ${shellWord(shown)} --key`,
    outcome: 'not_sent',
  });
}

// A machine that has worked alone joins: what it has not finished is refused, and the names of its finished purchases come along.

/**
 * `own` is its account in its journal; the other one has the print of the API key there. Throws `guarded` (14) for operations of this
 * machine that are not finished; nothing was copied then.
 */
async function joinJournal(
  shared: Database,
  { account, print }: { readonly account: string; readonly print: string },
  local: Database,
  own: string,
): Promise<void> {
  const found = await local.read(async tx => {
    const unfinished = await tx.all<{ id: string }>(
      sql`select id from op where account = ${own} and (state <> 'finished' or acknowledged is null) order by created`,
    );
    if (unfinished.length > 0) throw notFinished(unfinished.map(({ id }) => id));
    const named = sql`select c.op from change c join op o on o.id = c.op
      where o.account = ${own} and c.intent is not null and c.state not in ('refused', 'not_sent')`;
    return {
      ops: (await tx.all(sql`select * from op where id in (${named})`)).map(opOf),
      changes: (await tx.all(sql`select * from change where op in (${named}) order by op, n`)).map(changeOf),
    };
  });
  if (found.ops.length === 0) return;
  await shared.transaction(async tx => {
    await tx.all(sql`select id from account where id = ${account}${shared.lock}`);
    const names = found.changes.flatMap(({ intent = [] }) => intent);
    const taken = await changesNamed(tx, account, names);
    const isNew = ({ intent, state }: Change) =>
      intent !== undefined && !taken.has(intent) && state !== 'refused' && state !== 'not_sent';
    const wanted = new Set(found.changes.filter(isNew).map(({ op }) => op));
    const ops = found.ops.filter(({ id }) => wanted.has(id)).map(op => ({ ...op, account, keyPrint: print }));
    // A name that is taken leads to what the shared journal has under it.
    const withoutTaken = (change: Change) =>
      taken.has(change.intent ?? '') ? { ...change, intent: undefined } : change;
    const changes = found.changes.filter(({ op }) => wanted.has(op)).map(withoutTaken);
    await insertRecords(tx, 'op', ops);
    await insertRecords(tx, 'change', changes);
    for (const op of wanted) {
      const text = 'brought by a machine that worked alone before';
      await appendLine(tx, account, { event: 'begun', op, changes: await plannedDigest(tx, op), text });
      await appendLine(tx, account, { event: 'finished', op, outcome: await outcomeDigest(tx, op) });
    }
  });
}

function notFinished(ops: readonly string[]): CliError {
  const [first] = ops;
  const others = ops.length === 1 ? '' : ` and ${ops.length - 1} more`;
  return new CliError('guarded', {
    message: `this machine has operations of its own that are not finished: ${first}${others}. Nothing was sent`,
    notes: ['Finish them before it uses the shared journal, so that nobody does them a second time:'],
    reason: 'not_finished_here',
    hint: `cardwright ops resume ${first} --journal local`,
    outcome: 'not_sent',
    ...(first !== undefined && { op: first }),
  });
}
