import { command } from '../../../cli/parsing/command.ts';
import { KEY_ANSWER, keyView } from './columns.ts';

/** The key that operations are approved with. */
export const showApprovalKey = command({
  path: 'ops keys show',
  summary: 'Show the line of the key that you approve with',
  answers: { one: KEY_ANSWER },
  reach: 'files',
  about: ['The line is "person ed25519 key". It holds no secret.'],
  examples: [
    { does: 'For an admin of a shared journal', run: 'ops keys show -q' },
    { does: 'As data', run: 'ops keys show --json' },
  ],
  run: async ctx => (await ctx.approvals()).ownKey(),
  show: keyView,
});
