/**
 * After a failover or a restore: what this machine has written to the database and the database does not have any more. The
 * copies of its ops bring it back; an op whose row was sent counts as sent (docs/design/team.md, section 5).
 */
import { CliError } from '../core/errors.ts';
import type { RecoveredOps } from '../journal/shared-ops.ts';
import type { LocalOps } from '../journal/store/local-ops.ts';
import type { Clash, JournalStatus } from './calls.ts';
import { importOp, isBegunHere } from './import-op.ts';
import { usedByOthers } from './kept-both.ts';
import { bytesAt, type KeptCopy, keptCopies, leftCopies, linesOf, lockCopy } from './local-copies.ts';
import { linesLost, reportLoss } from './loss.ts';
import { recoverMoved } from './recover-moved.ts';
import { type SharedOps, segmentRefused } from './shared-ops.ts';
import { pushSpool } from './spool.ts';
import { claimBegun } from './untold.ts';

/**
 * Brings everything, says so in the database, and goes on from its chain as it is. `left`: this machine goes on with the
 * account alone, which a database from before does not know. `places`: its own files, which may have been moved.
 */
export async function pushAll(
  shared: SharedOps,
  { left = false, places }: { readonly left?: boolean; readonly places: LocalOps['places'] },
): Promise<Omit<RecoveredOps, 'notes'>> {
  const { statements, account, head, host } = shared;
  const status = await statements().status(account);
  const lost = await lostNow(shared, status);
  if (lost > 0) await reportLoss(shared);
  const recovered: { op: string; rows: number }[] = [];
  const clashes: { op: string; with: string; name: string }[] = [];
  const met: ClashOfBrought[] = [];
  const workedOn: string[] = [];
  const behind = lost > 0 || status.moved || status.lost !== null;
  if (behind) {
    // Before the copies: of an op that was gone on with they have more, and do not tell whose API key its plan has.
    const moved = await recoverMoved(shared, places);
    recovered.push(...moved.recovered);
    clashes.push(...moved.clashes);
  }
  const copies = [...(await leftCopies(shared)), ...(behind ? await keptCopies(shared) : [])];
  for (const copy of copies) {
    // Of what the database has, outcomes alone are brought: its rows may be in other hands.
    if (!behind && !(await isLost(shared, copy))) continue;
    const brought = await recoverCopy(shared, copy);
    if (brought === 'in use') workedOn.push(copy.op);
    if (brought === undefined || brought === 'in use') continue;
    recovered.push({ op: copy.op, rows: brought.rows });
    met.push(...brought.clashes.map(clash => ({ ...clash, op: copy.op })));
  }
  const { brought, missing, leftOut, restored, clashes: late } = await pushSpool(shared);
  recovered.push(...restored);
  clashes.push(...(await standingClashes(shared, met)), ...late);
  // What such a command knows is not here yet: an admin must go on waiting for this machine.
  if (behind && workedOn[0] !== undefined) throw stillWorkedOn(workedOn[0]);
  if (!behind && status.frozen !== null) shared.notice(COUNTS_LATER);
  if (behind) await statements().pushed({ account, host, machine: await shared.machine(), lost, left });
  if (lost > 0) {
    head.forget((await statements().status(account)).head);
    await head.keep();
  }
  return { brought, missing, leftOut, recovered, lostLines: lost, clashes };
}

/** A name of an op that was brought, which belonged to another one just then. */
type ClashOfBrought = Omit<Clash, 'op'> & { readonly op: string };

/** The other one was brought later perhaps, and had come to nothing: then the name has passed on. */
async function standingClashes(shared: SharedOps, met: readonly ClashOfBrought[]): Promise<RecoveredOps['clashes']> {
  const standing: { op: string; with: string; name: string }[] = [];
  for (const { op, intent, key } of met) {
    const used = await usedByOthers(shared, op, { names: intent === undefined ? [] : [intent], key });
    const other = intent === undefined ? used.key : used.names.get(intent);
    if (other !== undefined) standing.push({ op, with: other, name: intent ?? key ?? '' });
  }
  return standing;
}

/** A backup holds what was pushed before it, so that a push counts from the report of a loss on. */
const COUNTS_LATER =
  'note: the shared journal has all that this machine knows, and nobody has reported a loss. Where a backup was restored, run this again when a machine that knows more has pushed: accept_failover names who is missing';

async function lostNow({ statements, account, head }: SharedOps, status: JournalStatus): Promise<number> {
  const known = head.known();
  if (known === undefined) return 0;
  const [line] = await statements().auditPage(account, known.seq);
  return linesLost(known, { line, head: status.head });
}

/** The database has it no more, and a row of it may have been sent; what was never claimed has sent nothing. */
async function isLost({ statements, account, disk }: SharedOps, { op, path }: KeptCopy): Promise<boolean> {
  if ((await statements().heads(account, { op, pruned: true })).length > 0) return false;
  return linesOf(await bytesAt(disk, path), { op, path }).some(({ record }) => record.t === 'SENT');
}

function stillWorkedOn(op: string): CliError {
  return new CliError('guarded', {
    message: `another command of this machine still works on ${op}, and what it knows was not brought; it ends soon, for nothing is written now`,
    hint: 'cardwright journal push',
    outcome: 'not_sent',
    op,
  });
}

/** Undefined where the database has it, or knows more of it. */
async function recoverCopy(shared: SharedOps, { op, path, finished }: KeptCopy) {
  const release = await lockCopy(shared.disk, path);
  if (release === undefined) return 'in use';
  try {
    const bytes = await bytesAt(shared.disk, path);
    const done = await importOp(shared, { op, bytes, finished, keyPrint: null, recovered: true });
    if (done === 'there' && !finished && isBegunHere(linesOf(bytes, { op, path }))) await claimBegun(shared, op);
    return typeof done === 'string' ? undefined : done;
  } catch (thrown) {
    // Somebody else has gone on with it: what this machine has seen of its rows is brought as theirs.
    if (segmentRefused(thrown)) return undefined;
    throw thrown;
  } finally {
    await release();
  }
}
