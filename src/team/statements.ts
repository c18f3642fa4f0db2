/** The functions of a shared journal's schema as statements. */
import type { AcceptedCard } from '../journal/shared-ops.ts';
import type { PostgresRow, PostgresSession } from '../postgres/client.ts';
import { type ApprovalStatements, approvalStatements, type OneAnswer } from './approval-statements.ts';
import type {
  Appending,
  ClaimResult,
  Clash,
  ClashPair,
  DaySums,
  Ending,
  Entering,
  Facts,
  HeadFilter,
  Holder,
  Holding,
  ImportedOp,
  ImportResult,
  InHands,
  JournalHead,
  JournalOpening,
  JournalStatus,
  LeaveResult,
  OpHead,
  Segment,
  TakeResult,
  Taking,
  Telling,
  UsedIntent,
  WantedOp,
  Witnessing,
} from './calls.ts';

/** By the identifier of the journal. */
export type HeadsByJournal = Readonly<Record<string, JournalHead>>;

type With<T> = T & { readonly head: JournalHead };

interface Pushed {
  readonly host: string;
  readonly lost: number;
  /** The files of this machine go on with the account alone. */
  readonly left?: boolean | undefined;
}

type OfMachine = Entering & { readonly host: string; readonly machine: string };

/** Each is one statement and one transaction, and may be sent again when its answer was lost. Rejects as `call` does. */
export interface Statements extends ApprovalStatements {
  claim(wanted: WantedOp, bytes: Uint8Array, facts: Facts): Promise<With<ClaimResult>>;
  append(
    call: Appending,
    bytes: Uint8Array,
    facts?: Facts,
  ): Promise<With<{ readonly n: number; readonly lease_ms: number }>>;
  letGo(call: Holding & { readonly ending: Ending }, facts: Facts): Promise<With<unknown>>;
  abandon(call: Holding, facts: Facts): Promise<With<unknown>>;
  take(call: Taking, facts: Facts): Promise<With<TakeResult>>;
  renew(call: Holding): Promise<With<{ readonly lease_ms: number }>>;
  /** Whether the caller, who began the op, knows what came of it; says nothing about ops of others. */
  told(call: Telling): Promise<With<unknown>>;
  note(
    call: Entering & { readonly host: string; readonly nonce: string },
    facts: Facts,
  ): Promise<With<{ readonly seq: number }>>;
  /** `ended`: the caller has said that it runs, and it has ended; nothing was written. */
  witness(
    call: Witnessing,
    bytes: Uint8Array,
    facts?: Facts,
  ): Promise<With<{ readonly verdict: 'witnessed' | 'ended'; readonly clashes?: readonly Clash[] }>>;
  pushed(call: Omit<Entering, 'known'> & Pushed): Promise<With<unknown>>;
  /** Who knows of lost lines by then; null where nobody does, or their loss was accepted. */
  reportLoss(
    call: Entering & { readonly accepted: number; readonly host: string },
  ): Promise<With<{ readonly lost: string | null }>>;
  leaveAccount(call: OfMachine & { readonly mine: boolean }, facts: Facts): Promise<With<LeaveResult>>;
  cameBack(call: OfMachine): Promise<With<{ readonly verdict: 'back' }>>;
  importOp(call: ImportedOp, bytes: Uint8Array, facts: Facts): Promise<With<ImportResult>>;
  importNames(
    call: Entering & {
      readonly op: string;
      readonly host: string;
      readonly names: readonly UsedIntent[];
      /** Names that belong to others stay theirs. */
      readonly keep_both?: true | undefined;
      /** The database has lost them: the same of their names, while it takes nothing else. */
      readonly recovered?: true | undefined;
    },
  ): Promise<With<{ readonly verdict: 'imported' | 'clash'; readonly clashes?: readonly Clash[] }>>;
  /** `kept`: it is not finished, or not for 90 days by the clock of the database. */
  pruneOp(
    call: Entering & {
      readonly op: string;
      readonly host: string;
      readonly done: readonly { readonly name: string; readonly done: { readonly card?: string | undefined } }[];
    },
    facts: Facts,
  ): Promise<With<{ readonly verdict: 'pruned' | 'gone' | 'kept' }>>;
  forgetNames(call: Entering & { readonly before_ms: number }): Promise<With<unknown>>;
  holdName(
    call: Entering & Holder & { readonly name: string },
  ): Promise<
    With<{ readonly verdict: 'holding' } | ({ readonly verdict: 'held'; readonly left_ms: number } & InHands)>
  >;
  releaseName(call: Entering & { readonly name: string; readonly by: string }): Promise<With<unknown>>;
  readOp(account: string, op: string, from: number): Promise<readonly Segment[]>;
  heads(account: string, filter: HeadFilter): Promise<readonly OpHead[]>;
  intentsOf(account: string, names: readonly string[]): Promise<readonly UsedIntent[]>;
  /** The op that an idempotency key of a caller was used for. */
  givenKeyOf(account: string, key: string): Promise<string | undefined>;
  hasKey(account: string, print: string): Promise<boolean>;
  /** The line of the chain with a number, or the next one that is there; undefined behind its end. */
  auditLine(account: string, seq: number): Promise<string | undefined>;
  /** Lines of the chain from a number on, a thousand at most. */
  auditPage(account: string, from: number): Promise<readonly string[]>;
  /** Every day that something was held for or spent on. */
  daySums(account: string): Promise<readonly DaySums[]>;
  /** The oldest first. */
  acceptedClashes(account: string): Promise<readonly ClashPair[]>;
  /** The oldest first. */
  acceptedCards(account: string): Promise<readonly AcceptedCard[]>;
  /** Names in use behind one, in order, a thousand at most. */
  intentsPage(account: string, behind: string): Promise<readonly UsedIntent[]>;
  status(account: string): Promise<JournalStatus>;
  /** All of one moment, in one call. `known`: where the chain of the account stood in each journal that the caller knows. */
  opening(account: string, names: readonly string[], known: HeadsByJournal): Promise<JournalOpening>;
}

/** A standby is not the only server that just reads: a setting of the database or of the role does the same. */
const STATUS = `select cardwright.status($1)
  || jsonb_build_object('standby', current_setting('transaction_read_only')::boolean)`;

const OPENING = `with s as materialized (select cardwright.status($1) as status)
select s.status, (select coalesce(jsonb_agg(h.head), '[]') from cardwright.heads($1, $2) h), cardwright.intents_of($1, $3),
  (select p.line from cardwright.audit_page($1, ($4::jsonb #>> array[s.status ->> 'journal_id', 'seq'])::bigint) p limit 1)
from s`;

export function statementsOver({ call }: Pick<PostgresSession, 'call'>): Statements {
  const one: OneAnswer = async (text, values) => jsonOf((await call(text, values))[0]);
  return {
    ...approvalStatements(one, members),
    ...readingStatements(call, one),
    claim: (wanted, bytes, facts) => one('select cardwright.claim($1, $2, $3)', [json(wanted), bytes, members(facts)]),
    append: (told, bytes, facts) =>
      one('select cardwright.append($1, $2, $3)', [json(told), bytes, facts === undefined ? null : members(facts)]),
    letGo: (told, facts) => one('select cardwright.let_go($1, $2)', [json(told), members(facts)]),
    abandon: (told, facts) => one('select cardwright.abandon($1, $2)', [json(told), members(facts)]),
    take: (told, facts) => one('select cardwright.take($1, $2)', [json(told), members(facts)]),
    renew: told => one('select cardwright.renew($1)', [json(told)]),
    told: told => one('select cardwright.told($1)', [json(told)]),
    note: (told, facts) => one('select cardwright.note($1, $2)', [json(told), members(facts)]),
    witness: (told, bytes, facts) =>
      one('select cardwright.witness($1, $2, $3)', [json(told), bytes, facts === undefined ? null : members(facts)]),
    pushed: told => one('select cardwright.pushed($1)', [json(told)]),
    leaveAccount: (told, facts) => one('select cardwright.leave_account($1, $2)', [json(told), members(facts)]),
    cameBack: told => one('select cardwright.came_back($1)', [json(told)]),
    importOp: (told, bytes, facts) =>
      one('select cardwright.import_op($1, $2, $3)', [json(told), bytes, members(facts)]),
    importNames: told => one('select cardwright.import_names($1)', [json(told)]),
    pruneOp: (told, facts) => one('select cardwright.prune_op($1, $2)', [json(told), members(facts)]),
    forgetNames: told => one('select cardwright.forget_names($1)', [json(told)]),
    holdName: told => one('select cardwright.hold_name($1)', [json(told)]),
    releaseName: told => one('select cardwright.release_name($1)', [json(told)]),
    reportLoss: told => one('select cardwright.report_loss($1)', [json(told)]),
  };
}

type Reading =
  | 'readOp'
  | 'heads'
  | 'intentsOf'
  | 'givenKeyOf'
  | 'hasKey'
  | 'auditLine'
  | 'auditPage'
  | 'daySums'
  | 'acceptedClashes'
  | 'acceptedCards'
  | 'intentsPage'
  | 'status'
  | 'opening';

/** What changes nothing. */
function readingStatements(call: PostgresSession['call'], one: OneAnswer): Pick<Statements, Reading> {
  return {
    async readOp(account, op, from) {
      const rows = await call('select n, epoch, writer, bytes from cardwright.read_op($1, $2, $3)', [
        account,
        op,
        from,
      ]);
      return rows.map(segmentOf);
    },
    async heads(account, filter) {
      const rows = await call('select head from cardwright.heads($1, $2)', [account, json(filter)]);
      return rows.map(row => jsonOf<OpHead>(row));
    },
    intentsOf: (account, names) => one('select cardwright.intents_of($1, $2)', [account, json(names)]),
    async givenKeyOf(account, key) {
      const [row] = await call('select cardwright.given_key_of($1, $2)', [account, key]);
      return row?.[0] ?? undefined;
    },
    async hasKey(account, print) {
      const [row] = await call('select cardwright.has_key($1, $2)', [account, print]);
      return row?.[0] === 't';
    },
    async auditLine(account, seq) {
      const [row] = await call('select line from cardwright.audit_page($1, $2) limit 1', [account, seq]);
      return row?.[0] ?? undefined;
    },
    async auditPage(account, from) {
      const rows = await call('select line from cardwright.audit_page($1, $2)', [account, from]);
      return rows.map(([line]) => line ?? '');
    },
    daySums: account => one('select cardwright.day_sums($1)', [account]),
    acceptedClashes: account => one('select cardwright.accepted_clashes($1)', [account]),
    acceptedCards: account => one('select cardwright.accepted_cards($1)', [account]),
    intentsPage: (account, behind) => one('select cardwright.intents_page($1, $2)', [account, behind]),
    status: account => one(STATUS, [account]),
    async opening(account, names, known) {
      const filter = json({ unfinished: true, untold: true, plan: true, most: 1000 });
      const [row] = await call(OPENING, [account, filter, json(names), json(known)]);
      const [status, unfinished, intents, line] = row ?? [];
      return {
        status: jsonOf([status ?? null]),
        unfinished: jsonOf([unfinished ?? null]),
        intents: jsonOf([intents ?? null]),
        line: line ?? undefined,
      };
    },
  };
}

function json(value: unknown): string {
  return JSON.stringify(value);
}

function members(facts: Facts): string {
  return JSON.stringify(facts).slice(1, -1);
}

function jsonOf<T>(row: PostgresRow | undefined): T {
  return JSON.parse(row?.[0] ?? 'null') as T;
}

function segmentOf([n, epoch, by, bytes]: PostgresRow): Segment {
  return { n: Number(n), epoch: Number(epoch), by: by ?? '', bytes: Buffer.from(bytes?.slice(2) ?? '', 'hex') };
}
