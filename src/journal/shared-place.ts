/**
 * The journal that several people share, as one process uses it: connected to when it is asked, with the account that its API key
 * belongs to, joined once by each machine, and held against what this machine has seen of it.
 */
import { CliError } from '../core/errors.ts';
import { keyPrint } from '../core/key-print.ts';
import type { Secret } from '../core/secret.ts';
import { shellWord } from '../core/shell-quote.ts';
import type { FileDependencies } from '../files/private-files.ts';
import { type Acting, findAccount, journalId } from './account.ts';
import { appendLine } from './chain.ts';
import type { Database, Transaction } from './database.ts';
import { joinJournal } from './join.ts';
import { openPostgres, type PostgresSettings } from './postgres.ts';
import { type SeenJournal, type SeenJournals, seenJournalsIn, watched } from './seen.ts';

export interface SharedSettings {
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

export interface SharedPlace {
  /** Opens it to change something: the key is listed, the machine has joined, the database is not behind. */
  open(): Promise<Database>;
  /** Opens it to read. */
  existing(): Promise<Database>;
  /** The account of the API key. Throws `guarded` where the journal does not list the key. */
  account(tx: Pick<Transaction, 'all'>): Promise<string>;
  keyPrint(salt: string): Promise<string>;
  /** The role that this process works as. */
  readonly user: string;
  readonly seen: SeenJournals;
  /** The account that the API key belongs to; undefined where the journal does not list the key. */
  listed(): Promise<{ readonly journal: string; readonly account: string; readonly print: string } | undefined>;
  /** Adds the API key to its account, which is made where it is missing. Resolves to the account. */
  listKey(): Promise<string>;
  /** Closes the connection; the next use opens another one. */
  close(): Promise<void>;
}

/** Nothing is connected to yet. */
export function sharedPlace(settings: SharedSettings): SharedPlace {
  const { acting, confirm, stateFolder, files } = settings;
  const { shown, user } = settings.postgres.address;
  const seen = seenJournalsIn(stateFolder, files);
  let connected: Promise<Database> | undefined;
  let readied: Promise<Database> | undefined;

  const existing = () => {
    connected ??= openPostgres(settings.postgres).catch((thrown: unknown) => {
      connected = undefined;
      throw thrown;
    });
    return connected;
  };
  const printOf = async (salt: string) => keyPrint(await settings.key(), salt);

  async function listed() {
    const [{ mode }, here] = [await acting(), await existing()];
    const journal = await here.read(journalId);
    const print = await printOf(journal);
    const account = await here.read(tx => accountOfKey(tx, mode, print));
    return account === undefined ? undefined : { journal, account, print };
  }

  async function listKey(): Promise<string> {
    const [who, here] = [await acting(), await existing()];
    const print = await printOf(await here.read(journalId));
    return here.transaction(async tx => {
      const known = await accountOfKey(tx, who.mode, print);
      if (known !== undefined) return known;
      const account = (await findAccount(tx, who, print)) ?? `${who.mode} ${who.origin}`;
      await tx.run(
        'insert into account (id, origin, mode) values (?, ?, ?) on conflict (id) do nothing',
        account,
        who.origin,
        who.mode,
      );
      const columns = ['account', 'print', 'origin', 'listed', 'listed_by'];
      await tx.insert('account_key', columns, [[account, print, who.origin, await tx.now(), user]]);
      await appendLine(tx, account, { event: 'key', text: `${print} at ${who.origin}` });
      return account;
    });
  }

  async function ready(): Promise<Database> {
    const here = await existing();
    const question = `The shared journal ${shown} does not list this API key yet. Does it belong to the same account?`;
    if ((await listed()) === undefined) {
      if (!(await confirm(question))) throw notListed(shown);
      await listKey();
    }
    const known = await listed();
    if (known === undefined) throw notListed(shown);
    const { journal, account, print } = known;
    const isOf = (each: SeenJournal) => each.journal === journal && each.account === account;
    const before = await seen.read();
    let last = before.find(isOf);
    if (last === undefined) {
      refuseKept(before, await settings.key(), journal);
      await joinJournal(here, await settings.local(), { acting: await acting(), account, print, printOf });
      const [row] = await here.read(tx =>
        tx.all<{ seq: number }>('select audit_seq as seq from account where id = ?', account),
      );
      last = { journal, account, print, shown, seq: row?.seq ?? 0 };
      await seen.note(last);
    }
    return watched(here, seen.note, last);
  }

  return {
    user,
    seen,
    existing,
    listed,
    listKey,
    keyPrint: printOf,
    open() {
      readied ??= ready().catch((thrown: unknown) => {
        readied = undefined;
        throw thrown;
      });
      return readied;
    },
    async account(tx) {
      const [{ mode }, journal] = [await acting(), await journalId(tx)];
      const account = await accountOfKey(tx, mode, await printOf(journal));
      if (account === undefined) throw notListed(shown);
      return account;
    },
    async close() {
      const open = connected;
      connected = undefined;
      readied = undefined;
      await (await open?.catch(() => undefined))?.close();
    },
  };
}

/**
 * Throws `guarded` where this machine keeps the account of this key in a shared journal: beside it a journal of its own could
 * make the same change a second time.
 */
export async function refuseBesideShared(
  stateFolder: string,
  files: FileDependencies,
  key: () => Promise<Secret>,
): Promise<void> {
  const known = await seenJournalsIn(stateFolder, files).read();
  if (known.length > 0) refuseKept(known, await key());
}

/** `here`: the shared journal that is used now. */
function refuseKept(known: readonly SeenJournal[], key: Secret, here?: string): void {
  const shared = known.find(({ journal, print }) => journal !== here && keyPrint(key, journal) === print);
  if (shared === undefined) return;
  throw new CliError('guarded', {
    message: `this account is kept in the shared journal ${shared.shown}: beside it the same change could be made twice`,
    notes: [
      'Name it with --journal, in CARDWRIGHT_JOURNAL_URL or in the profile. Nothing was sent.',
      ...(here === undefined
        ? []
        : [
            `This is another journal (${here.slice(0, 8)}, not ${shared.journal.slice(0, 8)}). If it takes its place for good:`,
          ]),
    ],
    reason: 'shared_elsewhere',
    hint: here === undefined ? `export CARDWRIGHT_JOURNAL_URL=${shellWord(shared.shown)}` : 'cardwright journal accept',
    outcome: 'not_sent',
  });
}

async function accountOfKey(tx: Pick<Transaction, 'all'>, mode: string, print: string): Promise<string | undefined> {
  const [row] = await tx.all<{ id: string }>(
    'select a.id from account a join account_key k on k.account = a.id where k.print = ? and a.mode = ?',
    print,
    mode,
  );
  return row?.id;
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
