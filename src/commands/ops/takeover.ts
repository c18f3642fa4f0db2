import { LOOKED_ANSWER } from '../../cli/bulk/run-overview.ts';
import { command } from '../../cli/parsing/command.ts';
import { needs, OURS, option, typedOnly } from '../../cli/parsing/flag.ts';
import { flag, must, text } from '../../contract/field.ts';
import { op } from './arguments.ts';
import { resumed, resumeOp } from './resume.ts';

/** Resumes what another operator of a shared journal has left, and says why. */
export const takeoverOp = command({
  path: 'ops takeover',
  summary: "Finish another operator's operation that stopped",
  answers: LOOKED_ANSWER,
  effect: 'moves-money',
  reach: 'service',
  ends: {
    ...resumeOp.ends,
    guarded: 'A guard refused it, or its holder is alive: the message has the seconds that are left.',
  },
  about: [
    'For operations in a journal that several people share; your own ones are resumed. It goes on as ops resume does. The reason stands in the audit log of the account. An operation whose holder shows a sign of life cannot be taken over.',
  ],
  args: { op },
  flags: {
    reason: needs(must(text({ doc: 'Why, for the audit log of the account.', basis: OURS, maxLength: 200 })), '<text>'),
    resendAbsent: typedOnly(option(flag({ doc: 'Also send rows of which no trace was found.', basis: OURS }))),
  },
  examples: [
    { does: 'Its operator is away', run: 'ops takeover op_00000000000000000000000001 --reason "ana is on holiday"' },
    {
      does: 'What it would do',
      run: 'ops takeover op_00000000000000000000000001 --reason "ana is on holiday" --dry-run',
    },
  ],
  async run(ctx, { op, reason, resendAbsent = false }) {
    // Throws where operations have no other operators.
    await (await ctx.journal()).leases();
    return resumed(ctx, op, { reason, resendAbsent });
  },
  show: shown => shown,
});
