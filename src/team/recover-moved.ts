/**
 * Ops that were moved to a shared journal from the files of this machine, and that a restored database does not have any more. No
 * command has worked on them there, so that no copy of one may lie beside the journal: the files bring them
 * (docs/design/team.md, section 5).
 */
import type { RecoveredOps } from '../journal/shared-ops.ts';
import { type LocalOp, opsOfService } from '../journal/store/local-export.ts';
import { intentsByOp } from '../journal/store/local-intents.ts';
import type { LocalOps } from '../journal/store/local-ops.ts';
import { isInAccount, type MovedTo, movedFrom, onlyFreezes } from '../journal/store/moved.ts';
import type { NotedIntent } from '../journal/store/op-store.ts';
import type { Clash, UsedIntent } from './calls.ts';
import { importOp } from './import-op.ts';
import { type SharedOps, segmentRefused } from './shared-ops.ts';

type Brought = Pick<RecoveredOps, 'recovered' | 'clashes'>;

/**
 * What was sent counts as sent. Names that others have by now stay theirs, and are answered. A move that has not ended is left
 * to that move: until then this machine begins nothing.
 */
export async function recoverMoved(shared: SharedOps, places: LocalOps['places']): Promise<Brought> {
  const local: LocalOps = { disk: shared.disk, places };
  const here = { journal: shared.journalId, account: shared.account };
  const all: Brought[] = [];
  for (const note of await movedFrom(local)) {
    const isThere = note.complete === true && note.back === undefined && isInAccount(note, here);
    if (isThere) all.push(await recoverNoted(shared, local, note));
  }
  return { recovered: all.flatMap(each => each.recovered), clashes: all.flatMap(each => each.clashes) };
}

async function recoverNoted(shared: SharedOps, local: LocalOps, note: MovedTo): Promise<Brought> {
  const recovered: { op: string; rows: number }[] = [];
  const clashes: Brought['clashes'][number][] = [];
  const names = await intentsByOp(local, note);
  for await (const written of opsOfService(local, note)) {
    const { op } = written.plan;
    const noted = names.get(op) ?? [];
    names.delete(op);
    const brought = await recoverOp(shared, written, { note, noted });
    if (brought === undefined) continue;
    recovered.push({ op, rows: brought.rows });
    clashes.push(...brought.clashes.map(clash => clashOf(op, clash)));
  }
  for (const [op, noted] of names) clashes.push(...(await recoverNames(shared, op, noted)));
  return { recovered, clashes };
}

interface KnownHere {
  readonly note: MovedTo;
  /** Names that are still its own. */
  readonly noted: readonly NotedIntent[];
}

/** Undefined where the database has it, or knows more of it. */
async function recoverOp(shared: SharedOps, { plan, bytes, finished, ownsKey }: LocalOp, { note, noted }: KnownHere) {
  // A card is frozen here without asking anybody, also now.
  if (onlyFreezes(plan) && !finished) return undefined;
  const { statements, account } = shared;
  const { op } = plan;
  const [head] = await statements().heads(account, { op, pruned: true });
  if (head !== undefined && (head.pruned || head.state === 'finished')) return undefined;
  const keyPrint = plan.key_print === note.key_print ? (note.account_print ?? null) : null;
  const intents = noted.map(({ name, digest, row }) => ({ name, digest, row }));
  try {
    const done = await importOp(shared, {
      op,
      bytes,
      finished,
      keyPrint,
      recovered: true,
      own: true,
      intents,
      ownsKey,
    });
    return typeof done === 'string' ? undefined : done;
  } catch (thrown) {
    // Somebody else has gone on with it.
    if (segmentRefused(thrown)) return undefined;
    throw thrown;
  }
}

/** Names of rows that are done, whose op was removed here. */
async function recoverNames(shared: SharedOps, op: string, noted: readonly NotedIntent[]) {
  const names = noted.filter(({ done }) => done !== undefined) as readonly UsedIntent[];
  if (names.length === 0) return [];
  const { statements, account, host, head } = shared;
  const call = { account, known: head.known(), op, host, names, recovered: true } as const;
  const answer = await statements().importNames(call);
  head.learn(answer.head);
  return (answer.clashes ?? []).map(clash => clashOf(op, clash));
}

function clashOf(op: string, { intent, key, op: other }: Clash): Brought['clashes'][number] {
  return { op, with: other, name: intent ?? key ?? '' };
}
