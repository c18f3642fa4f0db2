import { confirmed } from '../../cli/confirm.ts';
import { command } from '../../cli/parsing/command.ts';
import { needs, OURS } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { must, text } from '../../contract/field.ts';
import { shellWord } from '../../core/shell-quote.ts';
import { request } from './arguments.ts';
import { REQUEST_COLUMNS, REQUEST_ROW, requestRow } from './columns.ts';
import { recordAnswer } from './recorded.ts';

/** The safe direction: nothing of it is ever sent. */
export const rejectRequest = command({
  path: 'approvals reject',
  summary: 'End what is held: nothing of it is ever sent',
  answers: { one: REQUEST_ROW },
  effect: 'reversible',
  effectSays: 'ends the request in the journal; sends nothing to the service',
  reach: 'files',
  ends: { guarded: 'The request is over.', not_confirmed: 'Declined, or nobody could be asked. Nothing was changed.' },
  about: [
    'The requester gets exit code 14 and the reason. The name of its --intent is free again. Requesters may end their own requests as well.',
  ],
  args: { request },
  flags: {
    reason: needs(must(text({ doc: 'Why, for the requester.', basis: OURS, maxLength: 200 })), '<text>'),
  },
  examples: [
    {
      does: 'End it',
      run: 'approvals reject apr_00000000000000000000000001 --reason "the card is the wrong one" --yes',
    },
    { does: 'Asked first', run: 'approvals reject apr_00000000000000000000000001 --reason "budget is spent"' },
  ],
  async run(ctx, { request: id, reason }) {
    if (ctx.dryRun) throw usage('approvals reject sends nothing to the service; it has no dry run');
    const intent = `Reject ${id}: nothing of it is ever sent`;
    const words = `cardwright approvals reject ${id} --reason ${shellWord(reason)} --yes`;
    await confirmed(ctx, { intent, question: `${intent}. Continue?`, command: words });
    const rejected = await (await ctx.approvals()).reject(id, reason);
    await recordAnswer(ctx, rejected, { operation: 'approvals.reject' });
    return rejected;
  },
  show: rejected => ({
    data: requestRow(rejected),
    noun: 'request',
    idField: 'id',
    columns: REQUEST_COLUMNS,
    blocks: [
      { kind: 'line', text: `Rejected ${rejected.payload.id}. Nothing of ${rejected.payload.op} is ever sent.` },
    ],
  }),
});
