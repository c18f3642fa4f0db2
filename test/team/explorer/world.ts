/**
 * Everything that a shared journal is made of, small enough to go through every order in which things can happen: one
 * database, operators with a clock and a machine of their own, requests on the wire, and what the service has done.
 * Time goes in ticks of a minute and a half; a write takes a minute at most, a lease is two ticks long.
 */

export const TICK_MS = 90_000;
export const WRITE_TOTAL_MS = 60_000;

export interface Bounds {
  readonly operators: number;
  /** What each operator wants, by number of a purchase; two that want the same give it the same name. */
  readonly wants: readonly number[];
  /** Nobody gives a name: the same change may be meant once more when the one before has ended. */
  readonly nameless?: true | undefined;
  /** Whether the plan and SENT go with one claim, as a single change does, or SENT comes after it, as many rows do. */
  readonly sentWithClaim: boolean;
  readonly keys: 'honoured' | 'ignored';
  readonly resendAbsent: boolean;
  /** Ticks that a process may stand still between its last look at the lease and its request; none: one write at most. */
  readonly standsStill: boolean;
  /** By how many ticks the clock of each machine is wrong. */
  readonly clocks: readonly number[];
  /** Purchases that the cap of the day allows. */
  readonly cap: number;
  readonly ticks: number;
  readonly crashes: number;
  readonly lostAnswers: number;
  /** Commands that each operator begins at most. */
  readonly commands: readonly number[];
  /**
   * The database may be replaced once by its state before the last commit: by a standby, which everybody sees, or by a backup on
   * the same server, which those see who know more.
   */
  readonly replaced?: 'by a standby' | 'by a backup' | undefined;
  /** Who brings what he knows before the database is accepted: everybody, or those that the database remembers. */
  readonly pushed?: 'everybody' | 'remembered' | undefined;
  /** An admin may leave one operator out by name. */
  readonly leavesOut?: true | undefined;
  /** An admin may accept two ops with one name. */
  readonly acceptsClashes?: true | undefined;
  /** It begins behind a restored backup: the first two operators have an op of one name each, and nobody knows what came of them. */
  readonly clash?: true | undefined;
  /** A person may say of a row that is nowhere that it was not done, when nothing of it can be on its way. */
  readonly byHand?: true | undefined;
  /** Nothing is excused because nobody who knew of it could say so. */
  readonly strict?: true | undefined;
  /** Requests that the service refuses for certain, at most. */
  readonly refusals?: number | undefined;
  /** What the files of each machine hold under the name of what its operator wants, before it uses the database. */
  readonly files?: readonly ('nothing' | 'done' | 'unknown')[] | undefined;
}

/** More than one op may come to have one name. */
export function mayClash({ replaced, files, clash }: Bounds): boolean {
  return replaced !== undefined || files !== undefined || clash !== undefined;
}

/** More than any operator begins: ops are numbered by operator and command. The last one is that of the files of the machine. */
export const OPS_EACH = 3;

export function opOfFiles(me: number): number {
  return me * OPS_EACH + OPS_EACH - 1;
}

export function ownerOfOp(op: number): number {
  return Math.floor(op / OPS_EACH);
}

/** One line of an op: which process wrote it, and at which tick of that machine's clock. */
export interface Line {
  readonly t: 'RUN' | 'SENT' | 'DONE' | 'FAILED';
  readonly by: number;
  readonly at: number;
}

export interface Op {
  readonly want: number;
  /** The name of what is wanted belongs to it. */
  readonly named: boolean;
  readonly holder: number;
  /** Its process. */
  readonly writer: number;
  readonly epoch: number;
  /** Tick from which on another process may have it, and the same of the holder before. */
  readonly leaseUntil: number;
  readonly leaseBefore: number;
  readonly state: 'running' | 'finished';
  readonly reserved: number;
  readonly spent: number;
  readonly lines: readonly Line[];
  /** It has ended, and who began it has not been shown that: another operator has ended it, or its own process told nobody. */
  readonly notTold: boolean;
}

export interface Database {
  readonly ops: readonly (Op | null)[];
  readonly held: number;
  readonly spent: number;
  /** Lines of the audit chain; counted where a server may take the place of another. */
  readonly seq: number;
  /** How often it was replaced, and an admin has accepted that; the last line that both have. */
  readonly server: 0 | 1;
  readonly accepted: 0 | 1;
  readonly fork: number;
  /** Somebody has reported that it lacks a line. */
  readonly lost: boolean;
  readonly wrote: readonly number[];
  readonly pushed: readonly number[];
  /** Purchases of which an admin has accepted two ops. */
  readonly clashes: readonly number[];
}

export type Doing =
  | { readonly at: 'idle' }
  | { readonly at: 'claim'; readonly want: number; readonly began: number }
  | { readonly at: 'take'; readonly op: number; readonly began: number }
  /** SENT is to be written; the call was begun at this tick, where its answer was lost. */
  | { readonly at: 'send'; readonly hand: Hand; readonly began: number | null }
  /** SENT is there: is the lease good for one write? */
  | { readonly at: 'check'; readonly hand: Hand }
  /** It was, at this tick. */
  | { readonly at: 'leave'; readonly hand: Hand; readonly checked: number }
  | { readonly at: 'wait'; readonly hand: Hand }
  | { readonly at: 'settle'; readonly hand: Hand; readonly found: Found | null; readonly patient: boolean }
  | { readonly at: 'record'; readonly hand: Hand; readonly outcome: 'DONE' | 'FAILED' }
  | { readonly at: 'let go'; readonly hand: Hand };

export type Found = 'it' | 'several' | 'nothing';

/** An op in the hands of a process. */
export interface Hand {
  readonly op: number;
  readonly epoch: number;
  /** Tick at which the call began that was answered with the lease. */
  readonly since: number;
  /** It was taken up: until then the process before may have sent, by the clock of this machine. */
  readonly formerLeaseEnd: number | null;
  /** Lines as this process knows them. */
  readonly lines: readonly Line[];
}

/** What a machine keeps of an op, also what the database may not have. */
export interface Copy {
  readonly op: number;
  readonly want: number;
  readonly finished: boolean;
  readonly lines: readonly Line[];
}

export interface Operator {
  readonly doing: Doing;
  readonly begun: number;
  /** How far the chain was when it was seen last, and at which server that line was written. */
  readonly known: { readonly seq: number; readonly server: number };
  readonly copies: readonly Copy[];
  /** Ops that this operator was told to be done. */
  readonly told: readonly number[];
  /** Lines of the op in the files of this machine; null where there is none, or it was moved. */
  readonly files: readonly Line[] | null;
}

/** A request on its way. */
export interface OnWire {
  readonly op: number;
  readonly from: number;
  readonly left: number;
}

export interface World {
  readonly tick: number;
  readonly db: Database;
  /** As it was before its last commit; null where nobody can lose one. */
  readonly standby: Database | null;
  readonly operators: readonly Operator[];
  readonly wire: readonly OnWire[];
  /** How often each op was carried out. */
  readonly effects: readonly number[];
  readonly crashes: number;
  readonly lostAnswers: number;
  readonly refused: number;
  /** Operators whom an admin has left out. */
  readonly leftOut: readonly number[];
  /** Purchases and ops that were done once more because nobody who knew of them could say so. */
  readonly excused: { readonly wants: readonly number[]; readonly ops: readonly number[] };
  /** By purchase, the op that its name was answered with, since the database is the one that it is. */
  readonly answered: readonly (number | null)[];
  /** What was done that must not be. */
  readonly wrong: string | null;
}

export function firstWorld(bounds: Bounds): World {
  const { operators, wants, replaced, clash } = bounds;
  const clashing = clash === undefined ? [] : [0, OPS_EACH];
  const ops = Array.from({ length: operators * OPS_EACH }, (_, op) =>
    clashing.includes(op) ? brought(op, wants[0] as number) : null,
  );
  const db: Database = {
    ops,
    held: clashing.length,
    spent: 0,
    seq: 0,
    server: 0,
    accepted: 0,
    fork: 0,
    lost: false,
    wrote: [],
    pushed: [],
    clashes: [],
  };
  const files = Array.from({ length: operators }, (_, me) => bounds.files?.[me] ?? 'nothing');
  const unknown = files.flatMap((what, me) => (what === 'unknown' ? opOfFiles(me) : []));
  const done = files.flatMap((what, me) => (what === 'done' ? opOfFiles(me) : []));
  return {
    tick: 0,
    db,
    standby: replaced === undefined ? null : db,
    operators: files.map((what, me) => ({
      doing: { at: 'idle' },
      begun: clashing.includes(me * OPS_EACH) ? 1 : 0,
      known: { seq: 0, server: 0 },
      copies: [],
      told: [],
      files: what === 'nothing' ? null : linesOfFiles(opOfFiles(me), what),
    })),
    wire: [...clashing, ...unknown].map(op => ({ op, from: ownerOfOp(op), left: 0 })),
    effects: ops.map((_, op) => (done.includes(op) ? 1 : 0)),
    crashes: 0,
    lostAnswers: 0,
    refused: 0,
    leftOut: [],
    // What is in the files of one machine the others do not know, nor what the backup had lost.
    excused: { wants: [...clashing.slice(1), ...unknown, ...done].map(op => wants[ownerOfOp(op)] as number), ops: [] },
    answered: [],
    wrong: null,
  };
}

/** Its process was killed behind its request; the name is that of the last one. */
function brought(op: number, want: number): Op {
  return {
    want,
    named: op > 0,
    holder: ownerOfOp(op),
    writer: -1,
    epoch: 1,
    leaseUntil: 0,
    leaseBefore: 0,
    state: 'running',
    reserved: 1,
    spent: 0,
    lines: linesOfFiles(op, 'unknown'),
    notTold: false,
  };
}

function linesOfFiles(by: number, what: 'done' | 'unknown'): readonly Line[] {
  const sent: readonly Line[] = [
    { t: 'RUN', by, at: 0 },
    { t: 'SENT', by, at: 0 },
  ];
  return what === 'done' ? [...sent, { t: 'DONE', by, at: 0 }] : sent;
}
