/**
 * Everything of an account that is not finished, or was not told to its operator, in one error: how many of each kind, and the
 * command that goes on.
 */
import { CliError } from '../core/errors.ts';
import { capital } from '../core/row-words.ts';
import { freeIn } from '../journal/runs/take-up.ts';
import type { OpHead } from './calls.ts';
import { endOfFreeze } from './refusals.ts';
import type { SharedOps } from './shared-ops.ts';
import { createStanding } from './standing.ts';

const PAGE = 1000;
const MOST_NAMED = 5;

/** Ops that the same command goes on with. */
interface Kind {
  readonly says: string;
  readonly command: (op: string) => string;
  /** Before the command, where it is said for each of them. */
  readonly each?: string;
  /** Another operator, who alone can run the command. */
  readonly waitsFor?: string;
  /** It can do nothing while the account is frozen: a row may still be sent, or its request be used. */
  readonly needsThaw?: true;
}

/**
 * Throws `guarded` while an op of the account is not finished, or an operator has not been told its end: in the files of one
 * machine nobody else is told, and the same command would do it once more.
 */
export async function refuseUnfinished(shared: SharedOps, isFrozen: boolean): Promise<void> {
  const { account } = shared;
  const groups = await groupsIn(shared, () => true);
  const noteHere = ({ kind, ops }: Group) => noteOf(kind, ops, isFrozen);
  const count = groups.reduce((all, { ops }) => all + ops.length, 0);
  if (count === 0) return;
  const next = groups.find(({ kind }) => kind.waitsFor === undefined && !(isFrozen && kind.needsThaw));
  const [op = ''] = (next ?? groups[0])?.ops ?? [];
  const are = count === 1 ? `${op} is` : `${count} operations are`;
  throw new CliError('guarded', {
    message: `${are} not finished, and a journal is moved back to one machine when everything in it is`,
    notes: [...groups.map(noteHere), ...thawNotes(groups, { account, isFrozen }), ...leftNotes(groups, account)],
    hint: next?.kind.command(op) ?? `cardwright ops show ${op}`,
    outcome: 'not_sent',
    ...(count === 1 && { op }),
  });
}

/** Ops that wait for approval or are in hand, where there are several: those alone keep an account from its only operator. */
export async function notesInWay(shared: SharedOps, isFrozen: boolean): Promise<readonly string[]> {
  const { account } = shared;
  const groups = await groupsIn(shared, ({ state, lease_ms: leftMs }) => state === 'pending' || leftMs > 0);
  const isOne = groups.length === 1 && groups[0]?.ops.length === 1;
  const each = isOne ? [] : groups.map(({ kind, ops }) => noteOf(kind, ops, isFrozen));
  return [...each, ...thawNotes(groups, { account, isFrozen })];
}

/** What is frozen is neither settled nor approved, whoever asks for it. */
function thawNotes(
  groups: readonly Group[],
  { account, isFrozen }: { readonly account: string; readonly isFrozen: boolean },
): readonly string[] {
  if (!isFrozen || !groups.some(({ kind }) => kind.needsThaw)) return [];
  return [
    endOfFreeze(account),
    `Settle them then. For the move it is frozen again: select cardwright.freeze_account('${account}', 'moved to one machine');`,
  ];
}

interface Group {
  readonly kind: Kind;
  readonly ops: string[];
}

/** The largest first. */
async function groupsIn(shared: SharedOps, isMeant: (head: OpHead) => boolean): Promise<readonly Group[]> {
  const { statements, account } = shared;
  const kinds = new Map<string, Group>();
  for (let skip = 0; ; skip += PAGE) {
    const page = await statements().heads(account, { unfinished: true, everybody: true, skip, most: PAGE });
    for (const head of page.filter(isMeant)) {
      const kind = await kindNow(shared, head);
      const name = JSON.stringify([kind.says, kind.needsThaw]);
      const group = kinds.get(name) ?? { kind, ops: [] };
      kinds.set(name, group);
      group.ops.push(head.op);
    }
    if (page.length < PAGE) return [...kinds.values()].sort((one, other) => other.ops.length - one.ops.length);
  }
}

/** The database hands an op out of a frozen account by its own counts, which know nothing of an outcome that was brought late. */
async function kindNow(shared: SharedOps, head: OpHead): Promise<Kind> {
  const now = await readAnew(shared, head);
  const kind = kindOf(now, shared.role);
  return now.unknown + now.open < head.unknown + head.open ? { ...kind, needsThaw: true } : kind;
}

/** An outcome that was brought late is counted nowhere: the records say where such an op stands, as for a list. */
async function readAnew({ statements, account }: SharedOps, head: OpHead): Promise<OpHead> {
  if (head.shown !== null || head.state !== 'running' || head.lease_ms > 0) return head;
  const standing = createStanding();
  const segments = await statements().readOp(account, head.op, 1);
  const inOrder = [...segments.filter(({ n }) => n > 0), ...segments.filter(({ n }) => n < 0)];
  try {
    for (const { bytes } of inOrder) standing.read(bytes);
  } catch (thrown) {
    // What nobody can read is unknown, and its resume says so.
    if (thrown instanceof CliError) return head;
    throw thrown;
  }
  return { ...head, ...standing.counts(), shown: standing.shown() };
}

function kindOf(head: OpHead, role: string): Kind {
  const { state, shown, unknown, open, holder, host, lease_ms: leftMs } = head;
  if (state === 'pending') {
    return { says: 'waiting for approval', command: () => 'cardwright approvals list', needsThaw: true };
  }
  if (leftMs > 0) {
    return { says: `in the hands of ${holder} on ${host}; ${freeIn(leftMs)}`, command: () => 'cardwright ops locks' };
  }
  if (state === 'finished' || unknown + open === 0) return untoldKind(head, role);
  const says = `${shown?.state ?? 'unknown'}, ${whoseOf(head, role)}`;
  return { says, command: holder === role ? resumed : takenOver, each: 'For each', needsThaw: true };
}

/** Who began it and, where that is another one, who has it. */
function whoseOf({ begun_by: began, holder }: OpHead, role: string): string {
  const who = began === role ? 'you' : began;
  const has = holder === role ? 'yours' : `${holder} has it`;
  if (began === null) return has;
  if (began !== holder) return `begun by ${who}, ${has}`;
  return holder === role ? has : `begun by ${who}`;
}

/** Its rows are settled: it ends when the one who waits for it has seen that. */
function untoldKind(head: OpHead, role: string): Kind {
  const { state, waits_for: who } = head;
  // Who has ended it is no matter: it waits for who began it.
  const whose = state === 'finished' && who !== null ? `begun by ${who}` : whoseOf(head, role);
  // He may operate no more, so that nobody is to be told.
  if (who === null) return { says: `untold, ${whose}`, command: takenOver, each: 'For each' };
  if (who === role) {
    return { says: `untold, ${state === 'finished' ? 'yours' : whose}`, command: resumed, each: 'For each' };
  }
  return { says: `untold, ${whose}`, command: resumed, each: `For each, by ${who}`, waitsFor: who };
}

const resumed = (op: string) => `cardwright ops resume ${op}`;
const takenOver = (op: string) => `cardwright ops takeover ${op} --reason "why"`;

/** Nobody else can be told in the place of an operator. */
function leftNotes(groups: readonly Group[], account: string): readonly string[] {
  const role = groups.find(({ kind }) => kind.waitsFor !== undefined)?.kind.waitsFor;
  if (role === undefined) return [];
  const ends = `select cardwright.add_member('${account}', '${role}', '{}');`;
  return [`An operator who has left is not waited for. An admin ends the membership in the database: ${ends}`];
}

function noteOf({ says, command, each, needsThaw }: Kind, ops: readonly string[], isFrozen: boolean): string {
  const [first = ''] = ops;
  const more = ops.length > MOST_NAMED ? ` and ${ops.length - MOST_NAMED} more` : '';
  const when =
    isFrozen && needsThaw ? [...(each === undefined ? [] : [each]), 'when the freeze has ended'] : [each ?? ''];
  const which = when.join(', ');
  return `${ops.length} ${says}: ${ops.slice(0, MOST_NAMED).join(', ')}${more}. ${which === '' ? '' : `${capital(which)}: `}${command(first)}`;
}
