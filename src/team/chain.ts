/** The audit chain of an account in a shared journal, read whole. */
import { type AuditEntry, followChain } from '../audit/entry.ts';
import type { Flaw } from '../audit/flaw.ts';
import type { Statements } from './statements.ts';

/** A line, as the database writes it. */
export interface SharedEntry extends Omit<AuditEntry, 'pid' | 'user' | 'event'> {
  readonly event: string;
  /** Role and machine, `ana@laptop`. */
  readonly who: string;
  /** What the op of the line may move, or has moved where it ends it. */
  readonly cents?: number;
  /** Rows of a line that ends an op. */
  readonly done?: number;
  readonly refused?: number;
  readonly not_sent?: number;
  /** When it happened, where the line was brought later: by the clock of the machine. */
  readonly asked_at?: string;
  /** Of a line that ends an op: digest over its records. */
  readonly records_sha256?: string;
}

export interface SharedChain {
  /** Its lines as they are, with their ends. */
  readonly text: string;
  /** Up to the first flaw, oldest first. */
  readonly entries: readonly SharedEntry[];
  readonly flaw?: Flaw;
}

const PAGE = 1000;

/** As far as it has come; its last line is the one that the account names, or that is the flaw. Rejects as `call` does. */
export async function readSharedChain(
  statements: Pick<Statements, 'auditPage' | 'status'>,
  account: string,
): Promise<SharedChain> {
  const { head: last } = await statements.status(account);
  const lines: string[] = [];
  for (;;) {
    const page = await statements.auditPage(account, lines.length + 1);
    lines.push(...page);
    if (page.length < PAGE) break;
  }
  const { entries, flaw = lastFlaw(entries, last) } = followChain(lines);
  const text = lines.map(line => `${line}\n`).join('');
  return { text, entries: entries as readonly unknown[] as readonly SharedEntry[], ...(flaw && { flaw }) };
}

function lastFlaw(entries: readonly AuditEntry[], { seq, hash }: { seq: number; hash: string }): Flaw | undefined {
  if (seq === 0 || entries[seq - 1]?.hash === hash) return undefined;
  return { line: seq, why: 'it is not the one that the account names as its last' };
}
