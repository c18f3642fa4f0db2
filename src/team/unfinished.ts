/** Everything of an account that is not finished, in one error: how many of each kind, and the command that goes on. */
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
  /** Whether the command is said for each of them. */
  readonly each: boolean;
}

/** Throws `guarded` while an op of the account is not finished. */
export async function refuseUnfinished({ statements, account, role }: SharedOps): Promise<void> {
  const kinds = new Map<string, { readonly kind: Kind; readonly ops: string[] }>();
  let count = 0;
  for (let skip = 0; ; skip += PAGE) {
    const page = await statements().heads(account, { unfinished: true, skip, most: PAGE });
    for (const head of page) {
      const kind = kindOf(head, role);
      const group = kinds.get(kind.says) ?? { kind, ops: [] };
      kinds.set(kind.says, group);
      group.ops.push(head.op);
    }
    count += page.length;
    if (page.length < PAGE) break;
  }
  if (count === 0) return;
  const groups = [...kinds.values()].sort((one, other) => other.ops.length - one.ops.length);
  const [first] = groups;
  const [op = ''] = first?.ops ?? [];
  const are = count === 1 ? `${op} is` : `${count} operations are`;
  throw new CliError('guarded', {
    message: `${are} not finished, and a journal is moved back to one machine when everything in it is`,
    notes: groups.map(({ kind, ops }) => noteOf(kind, ops)),
    hint: first?.kind.command(op) ?? 'cardwright ops list',
    outcome: 'not_sent',
    ...(count === 1 && { op }),
  });
}

function kindOf({ state, shown, holder, host, lease_ms: leftMs }: OpHead, role: string): Kind {
  if (state === 'pending')
    return { says: 'waiting for approval', command: () => 'cardwright approvals list', each: false };
  if (leftMs > 0) {
    return {
      says: `in the hands of ${holder} on ${host}; ${freeIn(leftMs)}`,
      command: () => 'cardwright ops locks',
      each: false,
    };
  }
  const stands = shown?.state === 'finished' ? 'untold' : (shown?.state ?? 'unknown');
  return holder === role
    ? { says: `${stands}, yours`, command: op => `cardwright ops resume ${op}`, each: true }
    : {
        says: `${stands}, begun by ${holder}`,
        command: op => `cardwright ops takeover ${op} --reason "why"`,
        each: true,
      };
}

function noteOf({ says, command, each }: Kind, ops: readonly string[]): string {
  const [first = ''] = ops;
  const more = ops.length > MOST_NAMED ? ` and ${ops.length - MOST_NAMED} more` : '';
  return `${ops.length} ${says}: ${ops.slice(0, MOST_NAMED).join(', ')}${more}. ${each ? 'For each: ' : ''}${command(first)}`;
}
