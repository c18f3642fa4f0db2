/** One line of the audit log: JSON that carries the digest of the line before it and its own. */
import { createHash } from 'node:crypto';
import type { ErrorKind } from '../core/errors.ts';

/** Which line is wrong and why. */
export type Flaw = { readonly line: number; readonly why: string };

/** What a line may tell. No secrets, no labels, no metadata: names, ids, amounts and outcomes alone. */
export interface AuditFacts {
  /**
   * `write` and `run` stand before the request, `outcome` after it, `reveal` before card details are asked for, `limit` behind
   * the change of a limit.
   */
  readonly event: 'write' | 'outcome' | 'run' | 'reveal' | 'limit';
  readonly profile: string;
  readonly mode: 'sandbox' | 'test' | 'live';
  readonly origin: string;
  readonly operation: string;
  readonly card_id?: string;
  readonly last4?: string;
  /** USD. */
  readonly amount?: number;
  readonly rows?: number;
  /** Row of a run that it is about, from 1. */
  readonly row?: number;
  readonly op?: string;
  readonly idempotency_key?: string;
  /** Where card details went: `screen`, `print`, `file`, `clipboard`, `child`. */
  readonly sink?: string;
  /** `done`, or the outcome or kind of the error. */
  readonly outcome?: string;
  /** Kind of the error, for outcomes that are not done. */
  readonly kind?: ErrorKind;
  /** The service's word for why, or the status of its answer. */
  readonly reason?: string;
  /** Who approved it, where it was held. */
  readonly approved_by?: string;
  /** Setting of a profile that was changed, and what it was before and after. */
  readonly limit?: string;
  readonly before?: string;
  readonly after?: string;
  /** Number of the line this is the outcome of. */
  readonly of?: number;
}

export interface AuditEntry extends AuditFacts {
  /** Number of the line, from 1. */
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly pid: number;
  /** Who ran the command, by name of the operating system, and where. Missing in lines of releases before 0.2. */
  readonly user?: string;
  readonly host?: string;
  /** Number of the first of the lines that were written together with this one, when there were several. */
  readonly batch?: number;
  readonly prev: string;
  readonly hash: string;
}

/** `prev` of the first line. */
export const BEGINNING = '0'.repeat(64);

const LINE = /^(\{"seq":(\d{1,12}),"at":"[^"]*",.*"prev":"([0-9a-f]{64})"),"hash":"([0-9a-f]{64})"\}$/;
const LONGEST_TEXT = 200;

interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** What stands around the facts of a line. */
export interface Around {
  readonly after: ChainHead;
  readonly at: string;
  readonly pid: number;
  readonly user: string;
  readonly host: string;
  readonly batch?: number | undefined;
}

/** A line without its newline, and where the chain stands after it. */
export function auditLine(facts: AuditFacts, around: Around): ChainHead & { readonly text: string } {
  const { after, at, pid, user, host, batch } = around;
  const short = (value: unknown) => (typeof value === 'string' ? value.slice(0, LONGEST_TEXT) : value);
  const seq = after.seq + 1;
  const shortened = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, short(value)]));
  const who = { user: short(user), host: short(host), ...(batch !== undefined && { batch }) };
  const body = JSON.stringify({ seq, at, pid, ...who, ...shortened, prev: after.hash });
  const hash = digest(body.slice(0, -1));
  return { text: `${body.slice(0, -1)},"hash":"${hash}"}`, seq, hash };
}

interface LineRead extends ChainHead {
  readonly prev: string;
}

/** The line's place in the chain when it is whole in itself. */
function readLine(text: string): LineRead | undefined {
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
  return createHash('sha256').update(text).digest('hex');
}
