import { command } from '../../cli/parsing/command.ts';
import { argument, OURS } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { text } from '../../contract/field.ts';
import { DID, didView } from './did.ts';

/** Takes a person out of a shared journal. */
export const leaveJournal = command({
  path: 'journal leave',
  summary: 'Take the rights and the approver keys of a role that leaves',
  answers: { one: DID },
  effect: 'reversible',
  effectSays: 'revokes the roles of cardwright in the database',
  reach: 'files',
  ends: { guarded: 'The role has the rights in another way, or you may not revoke them. Nothing was changed.' },
  about: [
    'Run by an admin of the database: PGUSER=admin cardwright journal leave bo. Replace the API key at the service too.',
  ],
  args: { role: argument(text({ doc: 'Login role of the person or the runner.', basis: OURS })) },
  examples: [
    { does: 'Bo leaves', run: 'journal leave bo' },
    { does: 'As data', run: 'journal leave bo --json' },
  ],
  async run(ctx, { role }) {
    if (ctx.dryRun) throw usage('journal leave sends nothing to the service; it has no dry run');
    return (await ctx.journalAdmin()).leave(role);
  },
  show: didView,
});
