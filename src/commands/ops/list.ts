import type { Context } from '../../cli/context.ts';
import { cutTo } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { choice, flag, integer } from '../../contract/field.ts';
import { CliError } from '../../core/errors.ts';
import type { OpSummary } from '../../journal/shown-ops.ts';
import { OP_COLUMNS, OP_ROW, OP_STATES, SHARED_OP_COLUMNS, summaryRow } from './columns.ts';

/** Lists the money operations and bulk runs of this machine. */
export const listOps = command({
  path: 'ops list',
  summary: 'List the money operations and bulk runs of this machine',
  answers: { list: OP_ROW },
  about: [
    'STATE is finished, untold (every row is settled, but the command ended before it could say so; until a resume shows what came of it, the same change is refused), unknown (sent, but no trustworthy answer came), open (some rows were not sent), pending (held until other persons approve it), rejected (its request was rejected or expired; nothing was sent), running, damaged, or newer (written by a newer version of cardwright; only that version can show and resume it). No request is sent.',
  ],
  reach: 'files',
  ends: { check_failed: 'A journal in the list is damaged; all of the list is shown.' },
  flags: {
    state: option(choice(OP_STATES, { doc: 'Only operations in this state.', basis: OURS })),
    limit: option(integer({ doc: 'Only the newest n.', basis: OURS, min: 1 })),
    local: option(
      flag({ doc: 'Copies that this machine keeps of operations in a shared journal; nobody is asked.', basis: OURS }),
    ),
  },
  examples: [
    { does: 'Operations with an unknown outcome', run: 'ops list --state unknown' },
    { does: 'All of them, newest first', run: 'ops list' },
    { does: 'While the database of a shared journal is away', run: 'ops list --local' },
    { does: 'Their ids', run: 'ops list -o id' },
  ],
  async run(ctx, { state, limit, local }) {
    if (local) ctx.notice(COPIES);
    const found = local ? await ctx.copiedOps() : await listed(ctx);
    return { found: found.filter(op => state === undefined || op.state === state), limit };
  },
  show({ found, limit }) {
    async function* batches() {
      yield found.slice(0, limit).map(summaryRow);
    }
    const newer = found.filter(({ state }) => state === 'newer').length;
    const damaged = found.filter(({ state }) => state === 'damaged');
    const untold = found.filter(({ state }) => state === 'untold');
    const unsettled = found.filter(({ state }) => state === 'unknown').length;
    return {
      listing: {
        batches: batches(),
        page: () => ({ total: found.length }),
        footer: count =>
          unsettled > 0 || untold.length > 1
            ? `${waiting({ unknown: unsettled, untold: untold.length })}: cardwright ops resume <op>${ofColleague(found)}`
            : untold[0] !== undefined
              ? `The command of ${untold[0].op} ended before it said what came of it: cardwright ops resume ${untold[0].op}`
              : newer > 0
                ? `${newer} written by a newer cardwright: install it to show or resume them.`
                : cutTo(count, 'operation', found.length),
      },
      noun: 'operation',
      idField: 'op',
      columns: found.some(({ hands }) => hands !== undefined) ? SHARED_OP_COLUMNS : OP_COLUMNS,
      ...(damaged.length > 0 && { failure: damagedOps(damaged) }),
    };
  },
});

/** In a journal of several people an operation may be a colleague's. */
function ofColleague(found: readonly OpSummary[]): string {
  return new Set(found.flatMap(({ hands }) => hands?.holder ?? [])).size > 1 ? ", a colleague's: ops takeover" : '';
}

/** `2 unknown, 1 untold`. */
function waiting(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.map(([state, count]) => `${count} ${state}`).join(', ');
}

/** Throws `guarded` where a shared journal cannot be asked, with what this machine can still say. */
async function listed(ctx: Context): Promise<readonly OpSummary[]> {
  try {
    return await (await ctx.journal()).list();
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.facts.reason !== 'journal_unreachable') throw thrown;
    throw thrown.with({ hint: 'cardwright ops list --local' });
  }
}

const COPIES =
  'These are copies of this machine, kept for a week. The shared journal has what others have done since: cardwright ops list';

function damagedOps(ops: readonly OpSummary[]): CliError {
  const [first] = ops;
  const message =
    ops.length === 1
      ? `the journal of ${first?.op} is damaged: what it has sent is not known`
      : `the journals of ${ops.length} operations are damaged: what they have sent is not known`;
  return new CliError('check_failed', { message, hint: `cardwright ops show ${first?.op}` });
}
