import { command } from '../../cli/parsing/command.ts';
import { needs, OURS } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { must, text } from '../../contract/field.ts';
import { op } from './arguments.ts';
import { OP_DETAIL } from './columns.ts';
import { showDetail } from './show.ts';

/** Ends an operation that waits for approval; nothing of it was or will be sent. */
export const rejectOp = command({
  path: 'ops reject',
  summary: 'End an operation that is held: nothing of it is ever sent',
  answers: { one: OP_DETAIL },
  effect: 'reversible',
  effectSays: 'writes to the journal; what was rejected is asked for anew by another command',
  reach: 'files',
  ends: { not_found: 'The journal knows no such operation.' },
  about: [
    'The journal keeps who has rejected it and why. An intent that it had stays used: the next request has another one.',
  ],
  args: { op },
  flags: { reason: needs(must(text({ doc: 'Why.', basis: OURS, maxLength: 200 })), '<text>') },
  examples: [
    { does: 'Not this one', run: 'ops reject op_00000000000000000000000001 --reason "not in the budget"' },
    { does: 'A request that has expired', run: 'ops reject op_00000000000000000000000001 --reason expired' },
  ],
  async run(ctx, { op: id, reason }) {
    if (ctx.dryRun) throw usage('ops reject sends nothing to the service; it has no dry run');
    return (await ctx.approvals()).reject(id, reason);
  },
  show: detail => showDetail(detail),
});
