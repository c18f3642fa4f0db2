/**
 * The local record of writes and reveals: lines of JSON, each with the digest of the line before it and its own, in the table `audit` of
 * this machine's journal, under the account of no service. Whoever may write as this user can rewrite it; against that, export it elsewhere.
 */
import { hash } from 'node:crypto';
import type { ValueOf } from '../contract/field.ts';
import { LIMITS } from '../contract/limits.ts';
import { maybe, tells } from '../contract/own-field.ts';
import { MINUTE } from '../core/durations.ts';
import { CliError, notSent } from '../core/errors.ts';
import { jsonOrUndefined } from '../core/objects.ts';
import { type Database, sql, type Transaction } from '../journal/database.ts';
import type { Clock } from '../platform/host.ts';

/** Which line is wrong and why. */
export type Flaw = { readonly line: number; readonly why: string };

/**
 * A line of the log; `prev` and `hash` chain them. No secrets, no labels, no metadata: names, ids, amounts and outcomes alone. `write` and
 * `run` stand before the request, `outcome` after it, `reveal` before card details are asked for, `limit` behind the change of one.
 */
export const AUDIT_ENTRY = {
  seq: tells.count('Number of the line, from 1.'),
  at: tells.time('When it happened.'),
  pid: tells.count('Process in which it happened.'),
  user: maybe(tells.text('User of the operating system; missing in lines of older releases.')),
  host: maybe(tells.text('Machine.')),
  event: tells.word('What the line is.', ['write', 'outcome', 'run', 'reveal', 'limit']),
  profile: tells.text('Profile.'),
  mode: tells.word('Kind of key.', ['sandbox', 'test', 'live']),
  origin: tells.text('Address of the service.'),
  operation: tells.text('Operation of the contract, or the command of a run.'),
  card_id: maybe(tells.text('Card.')),
  last4: maybe(tells.text('Its last four digits.')),
  amount: maybe(tells.usd('Amount, USD.')),
  rows: maybe(tells.count('Rows of a run.')),
  row: maybe(tells.count('Row of a run, from 1.')),
  op: maybe(tells.text('Operation in the journal.')),
  idempotency_key: maybe(tells.text('Key chosen by the caller.')),
  sink: maybe(tells.text('Where card details went.')),
  outcome: maybe(tells.text('The outcome.')),
  kind: maybe(tells.text('Kind of the error.')),
  reason: maybe(tells.text("The service's word for why, or the status of its answer.")),
  limit: maybe(tells.text('Limit of a profile that was changed.')),
  before: maybe(tells.text('What it was before.')),
  after: maybe(tells.text('What it is now.')),
  of: maybe(tells.count('Line this is the outcome of.')),
  prev: tells.text('Digest of the line before.'),
  hash: tells.text('Digest of this line.'),
} as const;
type AuditEntry = ValueOf<typeof AUDIT_ENTRY>;

/** What a line may tell, beside what stands in each. */
export type AuditFacts = Omit<AuditEntry, 'seq' | 'at' | 'pid' | 'user' | 'host' | 'prev' | 'hash'> & {
  /** Who approved it, where it was held. */
  readonly approved_by?: string;
};

/** `prev` of the first line. */
const BEGINNING = '0'.repeat(64);

const LINE = /^(\{"seq":(\d{1,12}),"at":"[^"]*",.*"prev":"([0-9a-f]{64})"),"hash":"([0-9a-f]{64})"\}$/;
const LONGEST_TEXT = 200;

interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** When, and by whom. */
type Signed = Readonly<Record<'at' | 'user' | 'host', string>> & { readonly pid: number };

/** A line without its newline, and where the chain stands after it. */
function auditLine(
  facts: AuditFacts,
  after: ChainHead,
  { at, pid, user, host }: Signed,
): ChainHead & { readonly text: string } {
  const short = (value: unknown) => (typeof value === 'string' ? value.slice(0, LONGEST_TEXT) : value);
  const seq = after.seq + 1;
  const shortened = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, short(value)]));
  const body = JSON.stringify({ seq, at, pid, user: short(user), host: short(host), ...shortened, prev: after.hash });
  const hash = digest(body.slice(0, -1));
  return { text: `${body.slice(0, -1)},"hash":"${hash}"}`, seq, hash };
}

/** The line's place in the chain when it is whole in itself. */
function readLine(text: string): (ChainHead & { readonly prev: string }) | undefined {
  const [, body = '', seq, prev = '', hash = ''] = LINE.exec(text) ?? [];
  if (seq === undefined || digest(body) !== hash) return undefined;
  return { seq: Number(seq), prev, hash };
}

/** Follows the chain from its beginning. The first flaw ends it; every byte of every line takes part. */
export function followChain(lines: readonly string[]): { readonly entries: AuditEntry[]; readonly flaw?: Flaw } {
  const entries: AuditEntry[] = [];
  let before: ChainHead = { seq: 0, hash: BEGINNING };
  for (const [index, text] of lines.entries()) {
    const line = index + 1;
    const read = readLine(text);
    if (read === undefined) return { entries, flaw: { line, why: 'its digest does not match its text' } };
    if (read.prev !== before.hash) return { entries, flaw: { line, why: 'it does not follow the line before it' } };
    if (read.seq !== line) return { entries, flaw: { line, why: `it is numbered ${read.seq}` } };
    entries.push(JSON.parse(text) as AuditEntry);
    before = read;
  }
  return { entries };
}

function digest(text: string): string {
  return hash('sha256', text);
}

export type AuditLog = ReturnType<typeof auditLog>;

interface AuditSettings {
  readonly path: string;
  /** The journal of this machine; made where there is none. */
  readonly database: () => Promise<Database>;
  /** Undefined where there is none. */
  readonly existing: () => Promise<Database | undefined>;
  readonly clock: Clock;
  readonly pid: number;
  /** Name of the operating system's user, and of this machine. */
  readonly user: string;
  readonly host: string;
}

export const REVEALS_A_MINUTE: number = LIMITS.detailsRate.max;

/** Stands for this machine where accounts stand. */
const MACHINE = 'machine';

/** Nothing is opened or made before the first call. */
export function auditLog({ path, database, existing, clock, pid, user, host }: AuditSettings) {
  /** Throws where it is not the line that was written last: the next one would hide that. */
  async function lastLine(tx: Transaction) {
    const head = await headOf(tx);
    if (head === undefined) {
      await tx.insert('account', ['id', 'origin', 'mode', 'audit_hash'], [[MACHINE, '', '', BEGINNING]]);
      return { seq: 0, hash: BEGINNING };
    }
    const [last] = await tx.all<{ seq: number; hash: string }>(
      sql`select seq, hash from audit where account = ${MACHINE} order by seq desc limit 1`,
    );
    if ((last?.seq ?? 0) === head.seq && (last?.hash ?? BEGINNING) === head.hash) return head;
    throw new CliError('check_failed', {
      message: `the audit log in ${path} does not end with line ${head.seq}, which was written last`,
      hint: 'cardwright audit verify',
    });
  }

  /** A time ahead of the clock counts: a clock that was set back must not open the gate. */
  async function recentReveals(tx: Pick<Transaction, 'all'>, profile: string) {
    const since = clock.now() - MINUTE;
    const times: number[] = [];
    for await (const entry of newerThan(tx, since))
      if (entry.event === 'reveal' && entry.profile === profile) times.push(Date.parse(entry.at ?? ''));
    return { times, since };
  }

  async function refuseBeyondLimit(tx: Transaction, profile: string): Promise<void> {
    const { times, since } = await recentReveals(tx, profile);
    if (times.length < REVEALS_A_MINUTE) return;
    const waitMs = Math.min(...times) - since;
    throw notSent(
      'rate_limited',
      `${REVEALS_A_MINUTE} cards were revealed on this machine in the last minute; the next is possible in ${Math.ceil(waitMs / 1000)} s`,
      { retryAfterMs: waitMs, operation: 'cards.details' },
    );
  }

  async function lines() {
    const found = await existing();
    return found?.read(async tx => ({
      head: await headOf(tx),
      lines: await tx.all<{ line: string }>(sql`select line from audit where account = ${MACHINE} order by seq`),
    }));
  }

  return {
    /** The journal that holds it. */
    path,
    /**
     * Appends lines and syncs them; resolves to the number of the last. With `soon` the next write that is synced takes them to the disk.
     * Throws `guarded` when it cannot be written, `check_failed` when the last line is not the one that was written last, and
     * `rate_limited` for a reveal where `revealsOf` has none left.
     */
    async append(all: readonly AuditFacts[], durability?: 'soon'): Promise<number> {
      const at = new Date(clock.now()).toISOString();
      return (await database()).grouped(async tx => {
        let last: ChainHead = await lastLine(tx);
        for (const facts of all) {
          if (facts.event === 'reveal') await refuseBeyondLimit(tx, facts.profile);
          const line = auditLine(facts, last, { at, pid, user, host });
          await tx.insert('audit', ['account', 'seq', 'line', 'hash'], [[MACHINE, line.seq, line.text, line.hash]]);
          last = line;
        }
        await tx.run(sql`update account set audit_seq = ${last.seq}, audit_hash = ${last.hash} where id = ${MACHINE}`);
        return last.seq;
      }, durability);
    },
    /** How many cards a profile has revealed in the last minute, in all processes of this machine. */
    async revealsOf(profile: string) {
      const found = await (await existing())?.read(tx => recentReveals(tx, profile));
      return found?.times.length ?? 0;
    },
    /** Whether a change at a service has ended since, ms by the clock of this machine. */
    async hasChangedSince(address: string, since: number): Promise<boolean> {
      const [found, origin] = [await existing(), originOf(address)];
      const isThere = await found?.read(async tx => {
        for await (const entry of newerThan(tx, since - 1))
          if (entry.event === 'outcome' && entry.origin === origin) return true;
        return false;
      });
      return isThere === true;
    },
    /** All lines up to the first flaw, oldest first. */
    async read(): Promise<{ readonly entries: readonly AuditEntry[]; readonly flaw?: Flaw }> {
      const kept = await lines();
      const followed = followChain(kept?.lines.map(({ line }) => line) ?? []);
      const flaw = followed.flaw ?? endFlaw(followed.entries, kept?.head ?? { seq: 0, hash: BEGINNING });
      return { entries: followed.entries, ...(flaw && { flaw }) };
    },
    /** The lines as they are, undefined when nothing was recorded yet. */
    async text() {
      const kept = await lines();
      return kept === undefined || kept.lines.length === 0
        ? undefined
        : kept.lines.map(({ line }) => `${line}\n`).join('');
    },
  };
}

/** What stands for the address of a service in a line. */
export function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : address;
}

/** The newest first. */
async function* newerThan(tx: Pick<Transaction, 'all'>, since: number): AsyncGenerator<Partial<AuditEntry>> {
  for (let below = Number.MAX_SAFE_INTEGER; ; ) {
    const some = await tx.all<{ seq: number; line: string }>(
      sql`select seq, line from audit where account = ${MACHINE} and seq < ${below} order by seq desc limit 256`,
    );
    for (const { seq, line } of some) {
      const entry = (jsonOrUndefined(line) ?? {}) as Partial<AuditEntry>;
      if (Date.parse(entry.at ?? '') <= since) return;
      below = seq;
      yield entry;
    }
    if (some.length === 0) return;
  }
}

function endFlaw(entries: readonly AuditEntry[], { seq, hash }: ChainHead) {
  const last = entries.length;
  if (last < seq) return { line: last + 1, why: `it is missing: ${seq} lines were written` };
  if (last > seq) return { line: seq + 1, why: 'it was not written by cardwright' };
  const isNamed = (entries.at(-1)?.hash ?? BEGINNING) === hash;
  return isNamed ? undefined : { line: last, why: 'it is not the line that was written last' };
}

async function headOf(tx: Pick<Transaction, 'all'>): Promise<ChainHead | undefined> {
  const [head] = await tx.all<ChainHead>(
    sql`select audit_seq as seq, audit_hash as hash from account where id = ${MACHINE}`,
  );
  return head;
}
