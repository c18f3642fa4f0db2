import { cutTo } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { choice, integer } from '../../contract/field.ts';
import { OP_COLUMNS, OP_ROW, OP_STATES, SHARED_OP_COLUMNS, summaryRow } from './columns.ts';

/** Lists the money operations and bulk runs of this machine. */
export const listOps = command({
  path: 'ops list',
  summary: 'List money operations and runs of many rows',
  answers: { list: OP_ROW },
  about: [
    'STATE is running (a process works on it), pending (held until other persons approve it), open (some rows were not sent), unknown (sent, but no trustworthy answer came), unacknowledged (every row is settled, but the command ended before it could say so; until a resume shows what came of it, the same change is refused), finished, or rejected (its request was rejected or expired; nothing was sent). HOLDER works on it, or did last. No request is sent.',
  ],
  reach: 'files',
  ends: { check_failed: 'The journal is damaged.' },
  flags: {
    state: option(choice(OP_STATES, { doc: 'Only operations in this state.', basis: OURS })),
    limit: option(integer({ doc: 'Only the newest n.', basis: OURS, min: 1 })),
  },
  examples: [
    { does: 'Operations with an unknown outcome', run: 'ops list --state unknown' },
    { does: 'All of them, newest first', run: 'ops list' },
    { does: 'Who works now', run: 'ops list --state running' },
    { does: 'Their ids', run: 'ops list -o id' },
  ],
  async run(ctx, { state, limit }) {
    const found = await (await ctx.journal()).list();
    return { found: found.filter(op => state === undefined || op.state === state), limit };
  },
  show({ found, limit }) {
    async function* batches() {
      yield found.slice(0, limit).map(summaryRow);
    }
    const left = found.filter(({ state }) => state === 'unknown' || state === 'unacknowledged');
    const counts = {
      unknown: left.filter(({ state }) => state === 'unknown').length,
      unacknowledged: left.filter(({ state }) => state === 'unacknowledged').length,
    };
    const [first] = left;
    return {
      listing: {
        batches: batches(),
        page: () => ({ total: found.length }),
        footer: count =>
          first === undefined
            ? cutTo(count, 'operation', found.length)
            : `${waiting(counts)}: cardwright ops resume ${left.length === 1 ? first.op : '<op>'}`,
      },
      noun: 'operation',
      idField: 'op',
      columns:
        new Set(found.map(({ heldBy }) => `${heldBy.holder}@${heldBy.host}`)).size > 1 ? SHARED_OP_COLUMNS : OP_COLUMNS,
    };
  },
});

/** `2 unknown, 1 unacknowledged`. */
function waiting(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.map(([state, count]) => `${count} ${state}`).join(', ');
}
