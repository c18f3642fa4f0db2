/** What persons do with a journal: they make, check and accept it, and approve operations that wait in it with a key of theirs. */
import { join } from 'node:path';
import { createKey, openKey, readPublicKey } from '../approvals/keys.ts';
import {
  type Approver,
  approverLine,
  readApproverLine,
  shownRequest,
  signRequest,
  visible,
} from '../approvals/request.ts';
import type { ValueOf } from '../contract/field.ts';
import { maybe, orNull, tells } from '../contract/own-field.ts';
import { CliError, notSent, undefinedOn, usage } from '../core/errors.ts';
import { keyPrint } from '../core/key-print.ts';
import { Secret } from '../core/secret.ts';
import { createPrivate, preparePrivateFolder, readPrivate, systemCode } from '../files/private-files.ts';
import { findAccount } from '../journal/account.ts';
import { appendLine, type ChainFlaw, checkChain } from '../journal/chain.ts';
import { doubtOpen, unknownOp } from '../journal/changes.ts';
import { type Database, type Reading, sql, type Transaction } from '../journal/database.ts';
import { noteKnownState } from '../journal/known-states.ts';
import { isOp, MARKER_KEY } from '../journal/names.ts';
import { detail, setAsideSandbox, summaries } from '../journal/ops.ts';
import { asAdmin } from '../journal/postgres.ts';
import {
  type ApprovalState,
  approvalState,
  approversOf,
  journalLimits,
  keepApproval,
  pendingOp,
  rejectOp,
} from '../journal/rules.ts';
import { initJournal, leaveJournal, setRules } from '../journal/shared.ts';
import type { SharedPlace } from '../journal/shared-place.ts';
import { acceptPlace, hasJournal, openSqlite, setAsideJournal } from '../journal/sqlite.ts';
import { isLimitName, limitWords, parseLimit } from '../limits/limits.ts';
import { type JournalPlace, postgresSettings, rulesSettings, selfFor, sharedAddress, sharedPlace } from './journal.ts';
import type { Run } from './run.ts';

export const JOURNAL_STATE = {
  place: tells.text('The file, or the address of the database.'),
  shared: tells.yes('Whether several people may use it.'),
  journal: orNull(tells.text('Its id.')),
  account: orNull(tells.text('The account of this run in it.')),
  key_listed: maybe(tells.yes('Whether it lists the API key of this run.')),
  audit_line: orNull(tells.count('Number of its last audit line.')),
  seen_line: orNull(tells.count('Highest number that this machine has seen.')),
  unfinished: tells.count('Operations that are not finished.'),
  locked_by: tells.json<readonly string[]>('Sessions that hold the account at this moment.'),
  limits: tells.json<readonly string[]>('Limits that the journal sets.'),
  approvers: tells.json<readonly string[]>('Who may approve.'),
} as const;
export type JournalState = ValueOf<typeof JOURNAL_STATE>;

export const JOURNAL_CHECK = {
  place: tells.text('The journal.'),
  account: tells.text('The account.'),
  lines: tells.count('Audit lines that were followed.'),
  flaws: tells.json<readonly ChainFlaw[]>('What does not fit: what, and op where it is about one.'),
  strangers: tells.json<
    readonly (Readonly<Record<'card_id' | 'marker', string>> &
      Readonly<Record<'last4' | 'created_at', string | null>> & { readonly balance: number })[]
  >('Cards whose mark no operation knows: card_id, last4, balance, created_at and marker.'),
} as const;
export type JournalCheck = ValueOf<typeof JOURNAL_CHECK>;

/** So far an accepted journal leaps ahead: every machine that has seen what was lost counts as having seen less. */
const LEAP = 1_000_000;

/** The key that this user approves with. */
export const OWN_KEY = {
  person: tells.text('The person; of a shared journal the login role.'),
  keyid: tells.text('First digits of the digest of its public part.'),
  line: tells.text('The line that makes it an approver.'),
  place: tells.text('Where it lies: a path, or keychain.'),
  listed: tells.yes('Whether it may approve in the journal of this run.'),
} as const;
export type OwnKey = ValueOf<typeof OWN_KEY>;

/** Changes that are shown one by one before a person approves. */
const MOST_SHOWN = 20;
const KEYCHAIN_ENTRY = 'approval-key';

export interface InitWishes {
  /** List the API key of this run. */
  readonly key: boolean;
  /** `max_per_day=500.00`; `none` as a value takes a rule away. */
  readonly limits: readonly string[];
  /** `person ed25519 key`. */
  readonly approvers: readonly string[];
}

/** The journal of a run as an admin and an approver see it; its place is not looked for before it is asked. */
export function journalAdmin(run: Run, placeOfRun: () => Promise<JournalPlace>) {
  const { host, files, opened } = run;
  const keyPath = join(host.folders.config, 'approval-key.json');

  async function accountHere(database: Database, place: JournalPlace): Promise<string | undefined> {
    if (isShared(place)) return (await place.listed())?.account;
    const acting = await opened.acting();
    const print = acting.mode === 'sandbox' ? 'sandbox' : keyPrint(await opened.key(), database.id);
    return database.read(tx => findAccount(tx, acting, print));
  }

  async function check(place: JournalPlace, database: Database): Promise<JournalCheck> {
    const account = await accountHere(database, place);
    if (account === undefined) throw usage('there is no journal of this account yet', 'cardwright journal status');
    // Of a journal that is not accepted yet those count that it lists.
    const known = (await undefinedOn('guarded', approvers())) ?? [];
    const { lines, flaws } = await database.read(tx => checkChain(tx, account, known));
    return { place: database.shown, account, lines, flaws, strangers: await strangersTo(database, account) };
  }

  /** Cards at the service that carry the mark of an operation which the journal does not know, and that nobody has accepted. */
  async function strangersTo(database: Database, account: string): Promise<JournalCheck['strangers']> {
    const marked: JournalCheck['strangers'][number][] = [];
    for await (const { data } of (await run.reader()).pages('cards.list', {})) {
      for (const card of data) {
        const { id: card_id, last4, balance, created_at, metadata } = card;
        const marker = metadata?.[MARKER_KEY];
        if (typeof marker === 'string' && isOp(marker.split('.')[0] ?? ''))
          marked.push({ card_id, last4: last4 ?? null, balance, created_at: created_at ?? null, marker });
      }
    }
    return database.read(async tx => {
      const rows = await tx.all<{ marker: string }>('select marker from change where marker is not null');
      const known = new Set(rows.map(({ marker }) => marker));
      const accepted = await acceptedCards(tx, account);
      return marked.filter(({ marker, card_id }) => !known.has(marker) && !accepted.has(card_id));
    });
  }

  /** The key of this user; undefined where there is none. */
  async function keptKey() {
    const text = await readPrivate(keyPath, files);
    if (text !== undefined) return { text, where: keyPath };
    const keychain = await host.keychain();
    const found = (await keychain.problem()) === undefined ? await keychain.read(KEYCHAIN_ENTRY) : undefined;
    return found && { text: found.expose(), where: 'keychain' };
  }

  async function neededKey() {
    const found = await keptKey();
    if (found === undefined)
      throw usage('there is no approval key of this user on this machine', 'cardwright ops keys create');
    return found;
  }

  async function ownKey(): Promise<OwnKey> {
    const { text, where } = await neededKey();
    const { publicKey, keyid } = readPublicKey(text, where);
    const listed = (await approvers()).find(each => each.keyid === keyid);
    const person = listed?.person ?? (await placeOfRun()).user ?? host.user;
    return { person, keyid, line: approverLine(person, publicKey), place: where, listed: listed !== undefined };
  }

  async function approvers(): Promise<readonly Approver[]> {
    const place = await placeOfRun();
    const settings = rulesSettings(run, place);
    const database = await place.existing();
    if (database === undefined) return (await settings.approvers()) ?? [];
    // Of a journal that does not list the key yet, those for all accounts.
    const account = await database.read(async tx => (await place.account?.(tx).catch(() => '')) ?? '');
    return database.read(tx => approversOf(tx, account, settings));
  }

  /** Throws `not_found` for an op that the journal does not know, or where there is no journal. */
  async function journalOf(op: string) {
    const place = await placeOfRun();
    const database = await place.existing();
    if (database === undefined) throw unknownOp(op);
    return { place, database, settings: rulesSettings(run, place) };
  }

  async function stateOf(op: string): Promise<ApprovalState> {
    const { database, settings } = await journalOf(op);
    return database.read(async tx => approvalState(tx, await pendingOp(tx, op), settings));
  }

  return {
    /** Resolves to what was done, a sentence each. */
    async init(text: string, wishes: InitWishes): Promise<readonly string[]> {
      const settings = await postgresSettings(run, text);
      const { did, journal, isNew } = await initJournal(settings);
      const done = [...did, `The journal ${journal} is ${isNew ? 'made' : 'as it was'}.`];
      done.push(...(await asAdmin(settings, tx => setWishes(tx, wishes))));
      if (!wishes.key) return done;
      const account = await (await sharedPlace(run, text)).listKey();
      return [...done, `The API key of this run is listed for the account ${account}.`];
    },
    async status(): Promise<JournalState> {
      const place = await placeOfRun();
      const database = await place.existing();
      const account = database && (await accountHere(database, place));
      const found = await database?.read(async tx => {
        const [row] = await tx.all<{ seq: number }>(
          sql`select audit_seq as seq from account where id = ${account ?? ''}`,
        );
        const approvers = await tx.all<{ person: string; keyid: string }>(
          sql`select person, keyid from approver where account in (${account ?? ''}, '') and removed is null order by person`,
        );
        return { seq: row?.seq, approvers, ...(await journalLimits(tx, account ?? '')) };
      });
      const ops = database === undefined ? [] : await summaries(database, selfFor(host, place), account);
      const noted = isShared(place) ? await place.seen.read() : [];
      const seen = noted.filter(each => each.journal === database?.id && each.account === account);
      return {
        place: database?.shown ?? host.folders.state,
        shared: isShared(place),
        journal: database?.id ?? null,
        account: account ?? null,
        ...(isShared(place) && { key_listed: account !== undefined }),
        audit_line: found?.seq ?? null,
        seen_line: seen.length === 0 ? null : Math.max(...seen.map(({ seq }) => seq)),
        unfinished: ops.filter(({ state }) => !['finished', 'not_sent', 'rejected'].includes(state)).length,
        locked_by: database !== undefined && isShared(place) ? await lockedBy(database) : [],
        limits: Object.entries(found?.limits ?? {}).map(
          ([name, value]) => `${name} ${isLimitName(name) ? limitWords(name, value) : value}`,
        ),
        approvers: (found?.approvers ?? []).map(({ person, keyid }) => `${person} (${keyid})`),
      };
    },
    async check(): Promise<JournalCheck> {
      const place = await placeOfRun();
      return isShared(place) ? check(place, await place.existing()) : withLocal(database => check(place, database));
    },
    /** Goes on with the journal as it is. `agree` is asked with what a person must know before. Resolves to what was done. */
    async accept({ setAside, agree }: { setAside: boolean; agree: Agree }): Promise<readonly string[]> {
      const place = await placeOfRun();
      if (!isShared(place) && setAside) return replaceDamaged(agree);
      if (!isShared(place)) {
        await withLocal(async database => {
          const account = (await accountHere(database, place)) ?? '';
          const strangers = await strangersTo(database, account);
          await agree({ flaws: [], strangers, limits: [] });
          await database.transaction(async tx => {
            await doubtOpen(tx);
            await appendLine(tx, account, acceptedLine(strangers, selfFor(host, place).holder));
          });
          await acceptHere(database);
        });
        return [`The journal in ${host.folders.state} is the one of this machine from now on.`];
      }
      if (setAside)
        throw usage(
          '--set-aside is for the journal of one machine; a shared one is put back by an admin of its database',
        );
      const database = await place.existing();
      const found = await check(place, database);
      const { account, strangers } = found;
      const { limits } = await database.read(tx => journalLimits(tx, account));
      await agree({ ...found, limits: Object.keys(limits) });
      const who = `${place.user}@${host.machine}`;
      const seq = await database.transaction(async tx => {
        await doubtOpen(tx, account);
        return appendLine(tx, account, acceptedLine(strangers, who), LEAP);
      });
      const listed = await place.listed();
      if (listed !== undefined) await place.seen.note({ ...listed, shown: database.shown, seq });
      return [`${database.shown} is the journal from now on, on every machine.`];
    },
    async leave(role: string): Promise<readonly string[]> {
      const address = await sharedAddress(run);
      if (address === undefined)
        throw usage('no shared journal is named: --journal, CARDWRIGHT_JOURNAL_URL or the profile names one');
      return leaveJournal(await postgresSettings(run, address), role);
    },
    /** Throws `usage` for an op that waits for nobody, `check_failed` where the journal was changed by something else. */
    review: async (op: string) => heldRequest(await stateOf(op)),
    /** Throws `guarded` where an approval with the key of this user would not count: before anything is asked. */
    async checkApprover(op: string): Promise<void> {
      const { settings } = await journalOf(op);
      const { request } = await stateOf(op);
      const { person, keyid, listed } = await ownKey();
      const isOwn = settings.isShared && person === request.requested_by;
      if (listed && !isOwn) return;
      const why = isOwn ? `${person} has asked for it` : `the key ${keyid} is not among the approvers`;
      throw notSent('guarded', `your approval of ${op} would not count: ${why}`, {
        reason: 'approval_own',
        hint: 'cardwright ops keys list',
        op,
      });
    },
    /** Signs what was reviewed. `passphrase` is asked when there is a key. Throws `guarded` where it would not count. */
    async approve(op: string, passphrase: () => Promise<Secret>) {
      const { text } = await stateOf(op);
      const own = await neededKey();
      const key = openKey(own.text, own.where, await passphrase(), host.scrypt);
      const { place, settings } = await journalOf(op);
      return heldRequest(await keepApproval(await place.open(), op, signRequest(text, key), settings));
    },
    async reject(op: string, reason: string) {
      const { place, database } = await journalOf(op);
      const self = selfFor(host, place);
      await rejectOp(await place.open(), op, { who: self.holder, reason });
      return detail(database, self, op);
    },
    async createKey(passphrase: Secret, where: 'file' | 'keychain') {
      if ((await keptKey()) !== undefined) throw keyIsThere();
      const place = await placeOfRun();
      const text = createKey(passphrase, { random: count => host.random.bytes(count), scrypt: host.scrypt });
      if (where === 'keychain') {
        const problem = await (await host.keychain()).write(KEYCHAIN_ENTRY, new Secret(text));
        if (problem !== undefined)
          throw notSent('guarded', `the key was not made: ${problem}`, 'cardwright ops keys create');
      } else {
        await preparePrivateFolder(host.folders.config, files);
        await createPrivate(keyPath, text).catch((error: unknown) => {
          throw systemCode(error) === 'EEXIST' ? keyIsThere() : error;
        });
      }
      // In the journal of one machine whoever makes a key at its terminal may approve.
      const approver = readApproverLine(approverLine(host.user, readPublicKey(text, where).publicKey));
      if (place.user === undefined && approver !== undefined) {
        const { keyid, person, key } = approver;
        const columns = ['account', 'keyid', 'person', 'key', 'added'];
        await (await place.open()).transaction(async tx =>
          tx.insert('approver', columns, [['', keyid, person, Buffer.from(key).toString('base64'), await tx.now()]]),
        );
      }
      return ownKey();
    },
    /** Throws `usage` where there is none. */
    ownKey,
    approvers,
    /** After the built-in sandbox was replaced: its cards leave the journal, the mirror and the completion of this machine. Nothing for a sandbox elsewhere. */
    async setAsideSandbox(): Promise<void> {
      const { state: stateFolder, data, cache } = host.folders;
      if ((await opened.sandboxElsewhere()) !== undefined) return;
      // Ids of completion and the mirror are of cards that are gone: others with the same ids would be mixed into them.
      const [{ forgetShown }, { mirrorPath, removeMirror }] = await Promise.all([
        import('../id-cache/shown.ts'),
        import('../mirror/file.ts'),
      ]);
      await forgetShown(cache, 'sandbox');
      await removeMirror(mirrorPath(data, 'sandbox'));
      if (!hasJournal(stateFolder)) return;
      try {
        await withLocal(database => setAsideSandbox(database, `${host.user}@${host.machine}`), false);
      } catch (thrown) {
        // The sandbox is replaced already.
        if (!(thrown instanceof CliError)) throw thrown;
        run.warn(`the journal still has operations of the sandbox before: ${thrown.message}`);
      }
    },
  };

  /** Opens the journal of this machine also where it is a copy, or was put back: to say what it lacks. */
  async function withLocal<T>(work: (database: Database) => Promise<T>, isAccepting = true): Promise<T> {
    const { state } = host.folders;
    if (isAccepting && !hasJournal(state)) throw usage('this machine has no journal yet', 'cardwright journal status');
    const database = await openSqlite({ stateFolder: state, files, clock: host.clock, isAccepting });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }

  /** From now on the journal that lies in the state folder is the one of this machine. */
  async function acceptHere(database: Database): Promise<void> {
    const { state, config } = host.folders;
    await acceptPlace(database);
    await noteKnownState(database, { configFolder: config, stateFolder: state, machine: host.machine }, files, true);
  }

  async function replaceDamaged(agree: Agree): Promise<readonly string[]> {
    const { state } = host.folders;
    const isWhole = async (database: Database) => {
      const found = await database.read(tx => tx.all<{ integrity_check: string }>('pragma integrity_check'));
      return found[0]?.integrity_check === 'ok' && (await (await run.audit()).read()).flaw === undefined;
    };
    const stays = await withLocal(isWhole).catch((thrown: unknown) => {
      if (thrown instanceof CliError && thrown.facts.reason === 'damaged') return false;
      throw thrown;
    });
    if (stays)
      throw notSent('guarded', `the journal in ${state} is not damaged, so it stays. Nothing was changed`, {
        hint: 'cardwright journal check',
      });
    await agree({ flaws: [], strangers: [], limits: [] });
    const stamp = new Date(host.clock.now()).toISOString().replace(/[:.]/g, '-');
    const aside = setAsideJournal(state, stamp);
    await withLocal(acceptHere, false);
    return [`The damaged journal is in ${aside}; a new one is in its place, and is empty.`];
  }
}

export type HeldRequest = ReturnType<typeof heldRequest>;

/** An op that waits for persons. */
function heldRequest({ request, changes, counted, needed }: ApprovalState) {
  const shown = changes.slice(0, MOST_SHOWN).map(({ n, operation, request: text }) => {
    const { method, path, body = '' } = JSON.parse(text) as { method: string; path: string; body?: string };
    return visible(`${n} ${operation}: ${method} ${path} ${body}`.trim());
  });
  return {
    op: request.op,
    command: request.command,
    changes: request.changes,
    /** Cents. */
    total: request.total_cents,
    needed,
    /** Who has approved it. */
    persons: counted.persons,
    /** The rule that holds it, who has asked, and until when it can be approved, UTC. */
    waits: { why: request.why, requested_by: request.requested_by, expires_at: request.expires_at },
    /** Every fact that is signed: name and words. */
    facts: shownRequest(request),
    /** The first changes, as requests. */
    requests: changes.length > MOST_SHOWN ? [...shown, `and ${changes.length - MOST_SHOWN} more`] : shown,
  };
}

function keyIsThere(): CliError {
  return usage('there is an approval key already, and it is not overwritten', 'cardwright ops keys show');
}

/** `limits` are names of those that the journal itself sets. */
type Agree = (
  found: Pick<JournalCheck, 'flaws' | 'strangers'> & { readonly limits: readonly string[] },
) => Promise<void>;

function isShared(place: JournalPlace): place is SharedPlace {
  return 'listKey' in place;
}

const CARDS_ACCEPTED = 'cards of no operation: ';

const acceptedLine = (strangers: JournalCheck['strangers'], who: string) =>
  ({ event: 'accepted', who, text: CARDS_ACCEPTED + strangers.map(({ card_id }) => card_id).join(' ') }) as const;

/** Cards of no operation with which a person has gone on. */
async function acceptedCards(tx: Reading, account: string): Promise<ReadonlySet<string>> {
  const lines = await tx.all<{ line: string }>(
    sql`select line from audit where account = ${account} and line like '%"event":"accepted"%'`,
  );
  const cards = lines.map(({ line }) =>
    String(JSON.parse(line).text ?? '')
      .slice(CARDS_ACCEPTED.length)
      .split(' '),
  );
  return new Set(cards.flat());
}

/** Sessions in whose transaction the account is locked at this moment. */
async function lockedBy(database: Database): Promise<readonly string[]> {
  const rows = await database.read(tx =>
    tx.all<{ pid: number; role: string }>(
      `select distinct a.pid, a.usename::text as role from pg_locks l join pg_stat_activity a on a.pid = l.pid
        join pg_class c on c.oid = l.relation where c.relname = 'account' and l.mode = 'RowShareLock'
        and a.pid <> pg_backend_pid()`,
    ),
  );
  return rows.map(({ pid, role }) => `${role} (session ${pid})`);
}

/** Rules and approvers of everybody who uses the journal. Throws `usage` for a wish that cannot be read; nothing is changed then. */
async function setWishes(tx: Transaction, { limits, approvers }: InitWishes): Promise<readonly string[]> {
  const rules = limits.map(text => {
    const [, name = '', value = ''] = /^([a-z_]+)=(.*)$/s.exec(text) ?? [];
    if (!isLimitName(name) || (value !== 'none' && parseLimit(name, value) === undefined))
      throw usage(
        `--limit takes a limit and its value, such as max_per_day=500.00, and not ${JSON.stringify(text)}`,
        'cardwright journal init --help',
      );
    return { name, value: value === 'none' ? undefined : value };
  });
  const people = approvers.map(line => {
    const approver = readApproverLine(line);
    if (approver === undefined)
      throw usage(
        `--approver takes the line of a key, "person ed25519 key", and not ${JSON.stringify(line)}`,
        'cardwright ops keys show -q',
      );
    return approver;
  });
  return setRules(tx, rules, people);
}
