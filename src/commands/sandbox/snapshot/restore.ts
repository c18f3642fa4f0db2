import { confirmed } from '../../../cli/confirm.ts';
import { command } from '../../../cli/parsing/command.ts';
import { whichSandbox } from '../../../cli/which-sandbox.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { checkedName, refuseDamaged, showRestored, snapshotName } from './shown.ts';

/** Puts a snapshot in place of everything the sandbox holds. */
export const restoreSnapshot = command({
  path: 'sandbox snapshot restore',
  summary: 'Replace the whole state of the sandbox with a snapshot',
  about: ['Every checksum is verified first. If one byte differs, that is exit 15, and nothing has changed.'],
  operation: 'snapshots.restore',
  ends: { check_failed: 'The snapshot is damaged; nothing has changed.' },
  args: { name: snapshotName },
  examples: [
    { does: 'Back to where it was', run: 'sandbox snapshot restore before --yes' },
    { does: 'What is back, as data', run: 'sandbox snapshot restore before --yes --json' },
  ],
  async run(ctx, { name: given }) {
    const name = checkedName(given);
    const intent = `Replace everything in ${await whichSandbox(ctx)} by the snapshot ${name}`;
    await confirmed(ctx, {
      intent,
      question: `${intent}?`,
      command: `cardwright sandbox snapshot restore ${name} --yes`,
    });
    const what = `snapshot ${name}`;
    return {
      what,
      done: refuseDamaged(what, await runAdmin(ctx, 'snapshots.restore', { name }), 'cardwright sandbox snapshot list'),
    };
  },
  show: ({ what, done }) => ({ data: done, ...showRestored(what, done) }),
});
