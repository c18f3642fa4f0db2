/** Operations and changes as the tables keep them, and as the rest of the journal reads them. */
import type { WriteName } from '../contract/calls.ts';
import { RECENT } from '../contract/spans.ts';
import type { CliError, ErrorFacts, ErrorKind } from '../core/errors.ts';
import type { Cents } from '../core/money.ts';
import { type Reading, type SqlRow, type SqlValue, sql, type Transaction } from './database.ts';
import type { Held } from './holder.ts';

type Values = Readonly<Record<string, unknown>>;

/** What else was planned. */
export interface KeptPlan {
  readonly markerPrefix?: string | undefined;
  readonly phased?: boolean | undefined;
  readonly wallet?: number | undefined;
}

/** An op before it is claimed. */
export interface PlannedOp {
  readonly id: string;
  readonly origin: string;
  readonly mode: 'sandbox' | 'test' | 'live';
  readonly keyPrint: string;
  readonly profile: string;
  readonly command: string;
  readonly digest: string;
  readonly bulk: boolean;
  readonly movesMoney: boolean;
  readonly plan: KeptPlan;
  readonly givenKey: string | undefined;
  readonly total: number;
}

export interface Op extends PlannedOp, Held {
  readonly account: string;
  readonly state: 'pending' | 'open' | 'finished';
  readonly day: string;
  readonly epoch: number;
  readonly created: number;
  readonly touched: number;
  readonly finished: number | undefined;
  readonly acknowledged: number | undefined;
  readonly objections: readonly string[];
}

export type RowResult = 'done' | 'refused' | 'unknown' | 'not_sent';

export type ChangeState = 'planned' | 'sent' | 'done' | 'refused' | 'not_sent' | 'unknown';

/** Balances or the state that were read just before a change was sent first; cents. */
export interface Before {
  readonly card?: number | undefined;
  readonly wallet?: number | undefined;
  readonly status?: string | undefined;
  readonly last4?: string | undefined;
  /** When they were read, ms UTC by the clock of the store. */
  readonly at: number;
}

/** What one look has come to. */
export interface Look {
  /** `several`: more than one card carries the marker of the change. */
  readonly found: 'there' | 'several' | 'not there' | 'cannot tell';
  /** What was looked at and seen, in one clause. */
  readonly text: string;
  /** Looking again shows no more: there is nothing to look for, or the service could not be reached after all retries of a reading. */
  readonly isFinal?: boolean | undefined;
  /** Nothing could be read: it takes nothing away from what an earlier look has seen. */
  readonly isUnread?: boolean | undefined;
  /** False: a card without a marker may be the one of the create. */
  readonly isClear?: boolean | undefined;
  /** Nothing that could be read speaks for the change: a refusal is believed. */
  readonly letsRefusalStand?: boolean | undefined;
  /** What is there: the card, or the balances of a transfer. */
  readonly result?: Values | undefined;
  readonly cards?: readonly Values[] | undefined;
  /** Changes of card and wallet since before, cents; of the wallet where it is evidence. */
  readonly moved?: { readonly card: number; readonly wallet: number | undefined } | undefined;
}

/** What showed an effect, or what the last look saw. */
export interface Evidence {
  /** What showed it: the answer with a reading, a look, or a person. */
  readonly via?: 'answer' | 'look' | 'person' | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** False when the card was in the wanted state already. */
  readonly changed?: boolean | undefined;
  /** Last look: what was seen, in one clause; how often it was looked; when last, ms UTC. */
  readonly seen?: string | undefined;
  readonly looks?: number | undefined;
  readonly lookedAt?: number | undefined;
  /** The look was complete, and the effect is not there. */
  readonly absent?: boolean | undefined;
  /** A reading that spoke for the change while it could not be told whether it is there, in one clause: it stays. */
  readonly spoke?: string | undefined;
  /** Why no answer could be trusted, in one clause. */
  readonly reason?: string | undefined;
  /** Cards with the marker of this change, when there are several. */
  readonly duplicate?: readonly string[] | undefined;
  /** It happened, and is not what was asked for: in words. */
  readonly otherwise?: string | undefined;
  /** Balance of the card after it, cents. */
  readonly balance?: number | undefined;
  /** What a person recorded. */
  readonly resolved?: { readonly as: 'done' | 'not-done'; readonly note: string; readonly who: string } | undefined;
  /** The clock of the service when it answered, or where the answer is lost when it was asked, ms UTC. */
  readonly serviceAt?: number | undefined;
  /** The card that an answer named which was not believed. */
  readonly made?: string | undefined;
  /** What a card holds that another apply has made, where another amount was asked for; cents. */
  readonly amount?: number | undefined;
  /** The card that it made does not show its marker. */
  readonly unmarked?: boolean | undefined;
  /** How often it was sent again, because a look did not find it. */
  readonly resent?: number | undefined;
}

/** Why a change is not done. */
export interface KeptError extends Pick<ErrorFacts, 'message' | 'httpStatus' | 'service' | 'hint'> {
  readonly kind: ErrorKind;
}

/** What a caller says of a change beside its request. */
export interface Facts {
  readonly label?: string | undefined;
  /** Balance the amount brings the card to: a card that has changed meanwhile is not taken beyond it. */
  readonly aim?: Cents | undefined;
  /** What the purchase is for, in the caller's words. The change is the same one with other words. */
  readonly purpose?: string | undefined;
  /** What was asked for where `input` holds our choice: a BIN for `auto`. Values of `input` that it names are not the caller's. */
  readonly asked?: Values | undefined;
  /** A key that follows from the intention, in place of one of the op's own: `<chain>.1`. Other machines send the same one. */
  readonly keyChain?: string | undefined;
  /** From 1: it is begun when all rows of lower phases have ended. */
  readonly phase?: number | undefined;
  /** Rows that must be done before it; else it is not sent. */
  readonly needs?: readonly number[] | undefined;
}

/** One change of an op. Its state is what the database has; the journal writes it first and changes it here then. */
export interface Change {
  readonly op: string;
  readonly n: number;
  readonly operation: WriteName;
  readonly input: Values;
  readonly request: { readonly method: string; readonly path: string; readonly body: string | undefined };
  readonly facts: Facts;
  key?: string | undefined;
  readonly marker?: string | undefined;
  readonly intent?: string | undefined;
  readonly digest: string;
  /** The card it is about; of a create the one that was made. */
  card?: string | undefined;
  last4?: string | undefined;
  readonly amount: number;
  state: ChangeState;
  attempts: number;
  sentAt?: number | undefined;
  lastSentAt?: number | undefined;
  before?: Before | undefined;
  evidence: Evidence;
  error?: KeptError | undefined;
  decidedAt?: number | undefined;
  decidedBy?: string | undefined;
}

/** A change that is planned, and nothing more. Every member stands from the beginning: an object that gets them later takes more memory. */
export function newChange(planned: Omit<Change, 'state' | 'attempts' | 'evidence'>): Change {
  return {
    key: undefined,
    marker: undefined,
    intent: undefined,
    card: undefined,
    last4: undefined,
    state: 'planned',
    attempts: 0,
    sentAt: undefined,
    lastSentAt: undefined,
    before: undefined,
    evidence: {},
    error: undefined,
    decidedAt: undefined,
    decidedBy: undefined,
    ...planned,
  };
}

/** Where a change stands, for people: what is planned is open, and what was sent and not answered is unknown. */
export function rowState({ state }: Pick<Change, 'state'>): RowResult | 'open' {
  return state === 'planned' ? 'open' : state === 'sent' ? 'unknown' : state;
}

/**
 * The service has refused it. Where the wallet was too low for a row of many, it stays open for a resume; a create of a file is
 * unknown until the end of its run has compared it with the cards that are there.
 */
export function isRefused({ state, error }: Pick<Change, 'state' | 'error'>): boolean {
  return (
    state === 'refused' ||
    isUncompared({ state, error }) ||
    (state === 'planned' && error?.kind === 'insufficient_funds')
  );
}

/** Of an unknown change no error is kept but that of a refusal which is not compared yet. */
export function isUncompared({ state, error }: Pick<Change, 'state' | 'error'>): boolean {
  return state === 'unknown' && error !== undefined;
}

export async function readOp(tx: Pick<Transaction, 'all'>, id: string): Promise<Op | undefined> {
  const [row] = await tx.all(sql`select * from op where id = ${id}`);
  return row === undefined ? undefined : opOf(row);
}

export async function readChanges(tx: Pick<Transaction, 'all'>, op: string): Promise<Change[]> {
  return (await tx.all(sql`select * from change where op = ${op} order by n`)).map(changeOf);
}

/** Done changes of an account in the last ten minutes, oldest first. */
export async function recentChanges(tx: Reading, account: string): Promise<readonly Change[]> {
  const rows = await tx.all(
    sql`select c.* from change c join op o on o.id = c.op where o.account = ${account} and c.state = 'done'
      and c.decided_at >= ${(await tx.now()) - RECENT} order by c.decided_at, c.op, c.n`,
  );
  return rows.map(changeOf);
}

export function opOf(row: SqlRow): Op {
  const op = recordOf<Op>('op', row);
  return { ...op, objections: op.objections ?? [] };
}

export function changeOf(row: SqlRow): Change {
  const change = recordOf<Change>('change', row);
  change.evidence ??= {};
  return change;
}

const columnsOf = (names: string) => names.split(/\s+/).map(column => ({ column, member: memberOf(column) }));

/** `key_print` is `keyPrint` in a record. */
function memberOf(column: string): string {
  if (column === 'idempotency_key') return 'key';
  return column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const COLUMNS = {
  op: columnsOf(
    `id account origin mode key_print profile command digest bulk moves_money plan given_key state total day holder process epoch lease
    created touched finished acknowledged objections`,
  ),
  change: columnsOf(
    `op n operation input request facts idempotency_key marker intent digest card last4 amount state attempts sent_at last_sent_at
    before evidence error decided_at decided_by`,
  ),
};
const JSON_COLUMNS = new Set('plan objections input request facts before evidence error'.split(' '));
const FLAGS = new Set(['bulk', 'moves_money']);

/** What is null is undefined in a record, or what stands for nothing. */
function recordOf<T extends Op | Change>(table: keyof typeof COLUMNS, row: SqlRow): T {
  const record: Record<string, unknown> = {};
  for (const { column, member } of COLUMNS[table]) {
    const cell = row[column] ?? undefined;
    const isJson = JSON_COLUMNS.has(column) && cell !== undefined;
    record[member] = isJson ? JSON.parse(String(cell)) : FLAGS.has(column) ? cell === 1 : cell;
  }
  return record as unknown as T;
}

/** Writes new ops or changes down. */
export function insertRecords<Table extends keyof typeof COLUMNS>(
  tx: Transaction,
  table: Table,
  records: Iterable<{ op: Op; change: Change }[Table]>,
): Promise<void> {
  const columns = COLUMNS[table];
  function* rows(): Iterable<readonly SqlValue[]> {
    for (const record of records) yield columns.map(({ member }) => cellOf(record[member as keyof typeof record]));
  }
  const names = columns.map(({ column }) => column);
  return tx.insert(table, names, rows());
}

function cellOf(value: unknown): SqlValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'object') return JSON.stringify(value);
  return (value as SqlValue | undefined) ?? null;
}

/** An error as it is kept: no key, no body, nothing that is secret. */
export function keptError({ kind, facts: { message, httpStatus, service, hint } }: CliError): KeptError {
  const more = { ...(httpStatus !== undefined && { httpStatus }), ...(service && { service }), ...(hint && { hint }) };
  return { kind, message, ...more };
}
