/**
 * The local record of writes and reveals: hash-chained lines in the table `audit` of this machine's journal, under the account
 * of no service. Whoever may write as this user can rewrite it; against that, export it elsewhere.
 */
import { CliError } from '../core/errors.ts';
import type { Database, Transaction } from '../journal/database.ts';
import type { Clock } from '../platform/host.ts';
import { type AuditEntry, type AuditFacts, auditLine, BEGINNING, type Flaw, followChain } from './entry.ts';

export interface AuditLog {
  /** The journal that holds it. */
  readonly path: string;
  /**
   * Appends one line and syncs it; resolves to its number. With `soon` the next write that is synced takes it to the disk. Throws
   * `guarded` when it cannot be written and `check_failed` when the last line is not the one that was written last.
   */
  append(facts: AuditFacts, durability?: 'soon'): Promise<number>;
  /** Appends several lines together, in their order, soon; throws as `append`. */
  appendAll(facts: readonly AuditFacts[]): Promise<void>;
  /** All lines up to the first flaw, oldest first. */
  read(): Promise<{ readonly entries: readonly AuditEntry[]; readonly flaw?: Flaw }>;
  /** The lines as they are, undefined when nothing was recorded yet. */
  text(): Promise<string | undefined>;
}

export interface AuditSettings {
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

/** Stands for this machine where accounts stand. */
const MACHINE = 'machine';

interface Head {
  readonly audit_seq: number;
  readonly audit_hash: string;
}

/** Nothing is opened or made before the first call. */
export function auditLog({ path, database, existing, clock, pid, user, host }: AuditSettings): AuditLog {
  async function append(facts: readonly AuditFacts[], durability?: 'soon'): Promise<number> {
    const at = new Date(clock.now()).toISOString();
    return (await database()).grouped(async tx => {
      let after = await lastLine(tx);
      const batch = facts.length > 1 ? after.seq + 1 : undefined;
      const rows: (string | number)[][] = [];
      for (const each of facts) {
        const line = auditLine(each, { after, at, pid, user, host, batch });
        rows.push([MACHINE, line.seq, line.text, line.hash]);
        after = line;
      }
      await tx.insert('audit', ['account', 'seq', 'line', 'hash'], rows);
      await tx.run('update account set audit_seq = ?, audit_hash = ? where id = ?', after.seq, after.hash, MACHINE);
      return after.seq;
    }, durability);
  }

  /** Throws where it is not the line that was written last: the next one would hide that. */
  async function lastLine(tx: Transaction) {
    const head = await headOf(tx);
    if (head === undefined) {
      await tx.insert('account', ['id', 'origin', 'mode', 'audit_hash'], [[MACHINE, '', '', BEGINNING]]);
      return { seq: 0, hash: BEGINNING };
    }
    const [last] = await tx.all<{ seq: number; hash: string }>(
      'select seq, hash from audit where account = ? order by seq desc limit 1',
      MACHINE,
    );
    const { audit_seq: seq, audit_hash: hash } = head;
    if ((last?.seq ?? 0) === seq && (last?.hash ?? BEGINNING) === hash) return { seq, hash };
    throw new CliError('check_failed', {
      message: `the audit log in ${path} does not end with line ${seq}, which was written last`,
      hint: 'cardwright audit verify',
    });
  }

  async function lines() {
    const found = await existing();
    return found?.read(async tx => ({
      head: await headOf(tx),
      lines: await tx.all<{ line: string }>('select line from audit where account = ? order by seq', MACHINE),
    }));
  }

  return {
    path,
    append: (facts, durability) => append([facts], durability),
    appendAll: async facts => void (await append(facts, 'soon')),
    async read() {
      const kept = await lines();
      const followed = followChain(kept?.lines.map(({ line }) => line) ?? []);
      const { audit_seq: seq = 0, audit_hash: hash = BEGINNING } = kept?.head ?? {};
      const flaw = followed.flaw ?? endFlaw(followed.entries, { seq, hash });
      return { entries: followed.entries, ...(flaw && { flaw }) };
    },
    async text() {
      const kept = await lines();
      return kept === undefined || kept.lines.length === 0
        ? undefined
        : kept.lines.map(({ line }) => `${line}\n`).join('');
    },
  };
}

function endFlaw(entries: readonly AuditEntry[], { seq, hash }: { readonly seq: number; readonly hash: string }) {
  const last = entries.length;
  if (last < seq) return { line: last + 1, why: `it is missing: ${seq} lines were written` };
  if (last > seq) return { line: seq + 1, why: 'it was not written by cardwright' };
  const isNamed = (entries.at(-1)?.hash ?? BEGINNING) === hash;
  return isNamed ? undefined : { line: last, why: 'it is not the line that was written last' };
}

async function headOf(tx: Pick<Transaction, 'all'>): Promise<Head | undefined> {
  const [head] = await tx.all<Head>('select audit_seq, audit_hash from account where id = ?', MACHINE);
  return head;
}
