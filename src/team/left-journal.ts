/**
 * A shared journal that this machine leaves for another one, for nobody can reach it any more: what the copies of this machine
 * know of its ops is brought along (docs/design/team.md, section 6).
 */
import { sep } from 'node:path';
import { CliError } from '../core/errors.ts';
import { type AccountPrint, isOf, type MovedTo } from '../journal/store/moved.ts';
import { type JournalHere, nameOfJournal, otherJournal } from '../journal/store/other-journal.ts';
import { decodeWhole } from '../journal/wal/codec.ts';
import type { PlanRecord } from '../journal/wal/records.ts';
import { importOp } from './import-op.ts';
import { bytesAt, copiesOnDisk, type KeptCopy, linesOf, lockCopy } from './local-copies.ts';
import { placesOf, type SharedOps } from './shared-ops.ts';
import { createStanding } from './standing.ts';

/** Of a move: where it goes, and whose key it is made with. */
export interface LeavingParts {
  readonly shared: SharedOps;
  readonly service: Pick<PlanRecord, 'origin' | 'mode'>;
  readonly stateFolder: string;
  /** Print of the API key as the account of `shared` knows it. */
  readonly keyPrint: string;
  /** The same for another account. */
  readonly accountPrint: AccountPrint;
}

interface Leaving {
  readonly here: JournalHere;
  /** By `nameOfJournal`; none where undefined. */
  readonly leave: string | undefined;
}

/** Of the journal that is left. Throws `guarded` for another one, `usage` where nothing of it is noted. */
export async function leftNote(others: readonly MovedTo[], { here, leave }: Leaving): Promise<MovedTo | undefined> {
  const left = others.find(each => nameOfJournal(each) === leave);
  const other = others.find(each => nameOfJournal(each) !== leave);
  if (other !== undefined) throw otherJournal(other, here);
  if (leave === undefined || left !== undefined) return left;
  throw new CliError('usage', {
    message: `this machine has used no other shared journal ${leave} with this API key; nothing was moved`,
    hint: 'cardwright journal status',
    outcome: 'not_sent',
  });
}

export interface BroughtOps {
  readonly ops: number;
  readonly rows: number;
  /** For the audit log. */
  readonly words: string;
}

/**
 * What was sent counts as sent, and `ops resume` settles it. Throws `guarded` while a command of this machine works on one of
 * them; `check_failed` for names that others have there, when everything is brought.
 */
export async function bringLeft(parts: LeavingParts, left: MovedTo): Promise<BroughtOps> {
  const { shared, keyPrint, accountPrint } = parts;
  const oldPrint = await accountPrint(left.account);
  const clashes: { readonly op: string; readonly with: string }[] = [];
  let [ops, rows] = [0, 0];
  for (const copies of (await copiesOf(parts, left)).values()) {
    const release = await lockAll(parts, copies);
    try {
      const copy = await longest(parts, copies);
      if (copy === undefined) continue;
      refuseElsewhere(parts, copy);
      const print = copy.plan.key_print === oldPrint ? keyPrint : null;
      const { op } = copy.plan;
      const done = await importOp(shared, { ...copy, op, keyPrint: print, recovered: true });
      if (typeof done === 'string') continue;
      ops += 1;
      rows += done.rows;
      clashes.push(...done.clashes.map(clash => ({ op, with: clash.op })));
    } finally {
      await release();
    }
  }
  const [clash] = clashes;
  if (clash !== undefined) throw usedInBoth(clash.op, clash.with);
  return { ops, rows, words: `, ${ops === 1 ? '1' : ops} of ${nameOfJournal(left)}, which was left` };
}

/** By op: several processes may have worked on one. */
async function copiesOf(
  { shared, stateFolder }: LeavingParts,
  { journal: journalId, account }: MovedTo,
): Promise<ReadonlyMap<string, readonly KeptCopy[]>> {
  const { spool } = placesOf(stateFolder, { journalId, account });
  const byOp = new Map<string, KeptCopy[]>();
  for (const copy of await copiesOnDisk(shared.disk, stateFolder)) {
    if (copy.path.startsWith(`${spool}${sep}`)) byOp.set(copy.op, [...(byOp.get(copy.op) ?? []), copy]);
  }
  return byOp;
}

async function lockAll({ shared }: LeavingParts, copies: readonly KeptCopy[]): Promise<() => Promise<void>> {
  const held: (() => Promise<void>)[] = [];
  const release = async () => {
    for (const each of held) await each();
  };
  for (const { op, path } of copies) {
    const one = await lockCopy(shared.disk, path);
    if (one === undefined) {
      await release();
      throw workedOn(op);
    }
    held.push(one);
  }
  return release;
}

interface LeftCopy {
  readonly plan: PlanRecord;
  readonly bytes: Uint8Array;
  /** Everything of it was told. */
  readonly finished: boolean;
}

/** What knows most of it; undefined for a plan that was never whole. */
async function longest({ shared }: LeavingParts, copies: readonly KeptCopy[]): Promise<LeftCopy | undefined> {
  let most: LeftCopy | undefined;
  for (const copy of copies) {
    const bytes = await bytesAt(shared.disk, copy.path);
    linesOf(bytes, copy);
    const [plan] = decodeWhole(bytes);
    if (plan?.t !== 'PLAN' || bytes.length <= (most?.bytes.length ?? 0)) continue;
    most = { plan, bytes, finished: copy.finished };
  }
  return most;
}

/** An op can be settled at the address of its plan alone. */
function refuseElsewhere({ service }: LeavingParts, { plan, bytes }: LeftCopy): void {
  if (isOf(plan, service)) return;
  const standing = createStanding();
  standing.read(bytes);
  const { unknown, open } = standing.counts();
  if (unknown + open === 0) return;
  throw new CliError('guarded', {
    message: `${plan.op} was begun at ${plan.origin} and is not finished; this run acts at ${service.origin}. Nothing was moved`,
    notes: ['An operation is settled at the address where it was begun.'],
    hint: 'cardwright ops list --local',
    outcome: 'not_sent',
    op: plan.op,
  });
}

function workedOn(op: string): CliError {
  return new CliError('guarded', {
    message: `a command of this machine works on ${op} in the journal that is left; nothing more was moved`,
    notes: ['When that one has ended, run the same command again.'],
    hint: 'cardwright ops list --local',
    outcome: 'not_sent',
    op,
  });
}

function usedInBoth(op: string, other: string): CliError {
  return new CliError('check_failed', {
    message: `a name of ${op} belongs to ${other} in this shared journal: one purchase may have been made twice. Everything was brought, and the other journal is not left yet`,
    notes: [`Look at both, and at the cards themselves: cardwright ops show ${op}`, 'Then run the same command again.'],
    hint: `cardwright ops show ${other}`,
    outcome: 'not_sent',
    op,
  });
}
