/**
 * Everything of an account that is not finished, or was not told to its operator, in one error: how many of each kind, and the
 * command that goes on.
 */
import { CliError } from '../core/errors.ts';
import { freeIn } from '../journal/runs/take-up.ts';
import type { OpHead } from './calls.ts';
import type { SharedOps } from './shared-ops.ts';

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
}

/**
 * Throws `guarded` while an op of the account is not finished, or an operator has not been told its end: in the files of one
 * machine nobody else is told, and the same command would do it once more.
 */
export async function refuseUnfinished(shared: SharedOps): Promise<void> {
  const { account } = shared;
  const groups = await groupsIn(shared, () => true);
  const count = groups.reduce((all, { ops }) => all + ops.length, 0);
  if (count === 0) return;
  const next = groups.find(({ kind }) => kind.waitsFor === undefined);
  const [op = ''] = (next ?? groups[0])?.ops ?? [];
  const are = count === 1 ? `${op} is` : `${count} operations are`;
  throw new CliError('guarded', {
    message: `${are} not finished, and a journal is moved back to one machine when everything in it is`,
    notes: [...groups.map(({ kind, ops }) => noteOf(kind, ops)), ...leftNotes(groups, account)],
    hint: next?.kind.command(op) ?? `cardwright ops show ${op}`,
    outcome: 'not_sent',
    ...(count === 1 && { op }),
  });
}

/** Ops that wait for approval or are in hand, where there are several: those alone keep an account from its only operator. */
export async function notesInWay(shared: SharedOps): Promise<readonly string[]> {
  const groups = await groupsIn(shared, ({ state, lease_ms: leftMs }) => state === 'pending' || leftMs > 0);
  const isOne = groups.length === 1 && groups[0]?.ops.length === 1;
  return isOne ? [] : groups.map(({ kind, ops }) => noteOf(kind, ops));
}

interface Group {
  readonly kind: Kind;
  readonly ops: string[];
}

/** The largest first. */
async function groupsIn(
  { statements, account, role }: SharedOps,
  isMeant: (head: OpHead) => boolean,
): Promise<readonly Group[]> {
  const kinds = new Map<string, Group>();
  for (let skip = 0; ; skip += PAGE) {
    const page = await statements().heads(account, { unfinished: true, everybody: true, skip, most: PAGE });
    for (const head of page.filter(isMeant)) {
      const kind = kindOf(head, role);
      const group = kinds.get(kind.says) ?? { kind, ops: [] };
      kinds.set(kind.says, group);
      group.ops.push(head.op);
    }
    if (page.length < PAGE) return [...kinds.values()].sort((one, other) => other.ops.length - one.ops.length);
  }
}

function kindOf(head: OpHead, role: string): Kind {
  const { state, shown, holder, host, lease_ms: leftMs } = head;
  if (state === 'pending') return { says: 'waiting for approval', command: () => 'cardwright approvals list' };
  if (leftMs > 0) {
    return { says: `in the hands of ${holder} on ${host}; ${freeIn(leftMs)}`, command: () => 'cardwright ops locks' };
  }
  if (state === 'finished' || shown?.state === 'finished') return untoldKind(head, role);
  const stands = shown?.state ?? 'unknown';
  return holder === role
    ? { says: `${stands}, yours`, command: resumed, each: 'For each: ' }
    : { says: `${stands}, begun by ${holder}`, command: takenOver, each: 'For each: ' };
}

/** Its rows are settled: it ends when the one who waits for it has seen that. */
function untoldKind({ holder, waits_for: who }: OpHead, role: string): Kind {
  // He may operate no more, so that nobody is to be told.
  if (who === null) return { says: `untold, begun by ${holder}`, command: takenOver, each: 'For each: ' };
  if (who === role) return { says: 'untold, yours', command: resumed, each: 'For each: ' };
  return { says: `untold, begun by ${who}`, command: resumed, each: `For each, by ${who}: `, waitsFor: who };
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

function noteOf({ says, command, each }: Kind, ops: readonly string[]): string {
  const [first = ''] = ops;
  const more = ops.length > MOST_NAMED ? ` and ${ops.length - MOST_NAMED} more` : '';
  return `${ops.length} ${says}: ${ops.slice(0, MOST_NAMED).join(', ')}${more}. ${each ?? ''}${command(first)}`;
}
