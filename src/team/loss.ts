/**
 * A journal that lacks what was written last, for a backup was put in its place. What it says of names may then be the work
 * of others (docs/design/team.md, section 5).
 */
import { CliError } from '../core/errors.ts';
import { cardOf, historyOf } from '../journal/wal/replay.ts';
import type { JournalHead, JournalOpening } from './calls.ts';
import { bytesAt, keptCopies, leftCopies, linesOf } from './local-copies.ts';
import type { Behind, SharedOps } from './shared-ops.ts';

/** Lines of the chain that this machine has seen and the database does not hold; 0 where it holds the last of them. */
export function linesLost(
  known: JournalHead | undefined,
  { line, head }: { line: string | undefined; head: JournalHead },
) {
  if (known === undefined || line?.endsWith(`"hash":"${known.hash}"}`)) return 0;
  return Math.max(1, known.seq - head.seq);
}

/** Undefined for a journal that has everything that `seen` tells. */
export function behindBy(
  { status, line }: Pick<JournalOpening, 'status' | 'line'>,
  seen: JournalHead | undefined,
): Behind | undefined {
  if (status.moved) return { why: 'the database was restored, copied or failed over', isLost: false };
  if (status.lost !== null) return { why: status.lost, isLost: true };
  if (seen === undefined || linesLost(seen, { line, head: status.head }) === 0) return undefined;
  const why = `this machine has seen line ${seen.seq} of its audit log, which it does not hold`;
  return { why, isLost: true };
}

/**
 * Tells the database what this machine has seen, so that everybody is refused. Where it cannot, for it may not or the server
 * only reads, this machine is refused all the same.
 */
export async function reportLoss({ statements, account, head, host }: SharedOps): Promise<void> {
  const known = head.known();
  if (known === undefined) return;
  await statements()
    .reportLoss({ account, known, accepted: head.accepted(), host })
    .catch(() => undefined);
}

/** For whoever reads. */
export function behindWarning({ why }: Behind): string {
  return `warning: the shared journal lacks what was written last, so what it shows may be old or the work of others: ${why}. Next: cardwright journal push`;
}

/**
 * Throws `check_failed` where the journal has lost what was written last and this command would go by what stands there for a
 * name: on this machine, or on another, it may be the name of something else.
 */
export async function refuseLost(shared: SharedOps, { what, name, op }: UsedName): Promise<void> {
  const { behind, account } = shared;
  if (behind?.isLost !== true) return;
  const own = await ownUses(shared, name);
  throw new CliError('check_failed', {
    message: `the shared journal has lost what was written last: ${behind.why}. There the ${what} ${JSON.stringify(name)} is ${op}, which may be another change than the one that was made; nothing was sent`,
    notes: [
      ...own.map(
        ({ op: ownOp, card }) => `On this machine it is ${ownOp}${card === undefined ? '' : `, card ${card}`}.`,
      ),
      acceptedBy(account),
    ],
    hint: 'cardwright journal push',
    outcome: 'not_sent',
    op,
  });
}

/** Throws `guarded`, or `check_failed` where lines are lost: an operation that is not there may be one of those. */
export async function refuseAbsent(shared: SharedOps, op: string): Promise<void> {
  const { behind, account } = shared;
  if (behind === undefined) return;
  const copies = [...(await keptCopies(shared)), ...(await leftCopies(shared))];
  const isOwn = copies.some(copy => copy.op === op);
  throw new CliError(behind.isLost ? 'check_failed' : 'guarded', {
    message: `the shared journal lacks what was written last: ${behind.why}. ${op} is not there, and may have been; nothing was sent`,
    notes: [...(isOwn ? [`This machine knows ${op}, and journal push brings it back.`] : []), acceptedBy(account)],
    hint: 'cardwright journal push',
    outcome: 'not_sent',
    op,
  });
}

/** Throws `check_failed`: what lies there is not all there was. */
export function refuseBehind({ behind, account }: Pick<SharedOps, 'behind' | 'account'>): void {
  if (behind === undefined) return;
  throw new CliError('check_failed', {
    message: `the shared journal lacks what was written last: ${behind.why}. Nothing was moved`,
    notes: [acceptedBy(account)],
    hint: 'cardwright journal push',
    outcome: 'not_sent',
  });
}

/** What ends that a journal lacks what was written last. */
export function acceptedBy(account: string): string {
  return `Each operator runs journal push; then an admin says in the database that it is right: select cardwright.accept_failover('${account}', 'why');`;
}

interface UsedName {
  readonly what: 'intent' | 'idempotency key';
  readonly name: string;
  /** That has it in the journal. */
  readonly op: string;
}

/** By the copies of the last week. One that cannot be read tells nothing. */
async function ownUses(shared: SharedOps, name: string) {
  const uses = new Map<string, string | undefined>();
  for (const copy of [...(await keptCopies(shared)), ...(await leftCopies(shared))]) {
    const history = await bytesAt(shared.disk, copy.path).then(
      bytes => historyOf(linesOf(bytes, copy)),
      () => undefined,
    );
    for (const row of history?.rows.values() ?? []) {
      if (row.item.intent !== name && history?.plan.given_key !== name) continue;
      uses.set(copy.op, cardOf(row) ?? uses.get(copy.op));
    }
  }
  return [...uses].map(([op, card]) => ({ op, card }));
}
