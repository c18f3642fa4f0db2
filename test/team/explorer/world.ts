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
  /** The database may be replaced once by a standby that lacks its last commit. */
  readonly failover: boolean;
  /** Who brings what he knows before the standby is accepted: everybody, or those that the database remembers. */
  readonly pushed?: 'everybody' | 'remembered' | undefined;
}

/** More than any operator begins: ops are numbered by operator and command. */
export const OPS_EACH = 3;

/** One line of an op: which process wrote it, and at which tick of that machine's clock. */
export interface Line {
  readonly t: 'RUN' | 'SENT' | 'DONE';
  readonly by: number;
  readonly at: number;
}

export interface Op {
  readonly want: number;
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
}

export interface Database {
  readonly ops: readonly (Op | null)[];
  readonly held: number;
  readonly spent: number;
  /** Lines of the audit chain; counted where a server may take the place of another. */
  readonly seq: number;
  /** The server that is here, the one that the account knows, and the last line that both servers have. */
  readonly server: 0 | 1;
  readonly accepted: 0 | 1;
  readonly fork: number;
  readonly wrote: readonly number[];
  readonly pushed: readonly number[];
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
  | { readonly at: 'record'; readonly hand: Hand }
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
}

export function firstWorld(bounds: Bounds): World {
  const db: Database = {
    ops: Array.from({ length: bounds.operators * OPS_EACH }, () => null),
    held: 0,
    spent: 0,
    seq: 0,
    server: 0,
    accepted: 0,
    fork: 0,
    wrote: [],
    pushed: [],
  };
  const operator: Operator = {
    doing: { at: 'idle' },
    begun: 0,
    known: { seq: 0, server: 0 },
    copies: [],
    told: [],
  };
  return {
    tick: 0,
    db,
    standby: bounds.failover ? db : null,
    operators: Array.from({ length: bounds.operators }, () => operator),
    wire: [],
    effects: Array.from({ length: bounds.operators * OPS_EACH }, () => 0),
    crashes: 0,
    lostAnswers: 0,
  };
}
