import { maybe, tells } from '../../cli/answer-fields.ts';
import { confirmed } from '../../cli/confirm.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { flag } from '../../contract/field.ts';

/** Puts the copy aside, so that the next sync begins anew; `--hard` deletes it. */
export const resetBooks = command({
  path: 'books reset',
  summary: 'Put the local copy aside and start again',
  answers: {
    one: {
      path: tells.text('The file.'),
      existed: tells.yes('Whether there was one.'),
      moved_to: maybe(tells.text('Where it is now; not with --hard.')),
    },
  },
  effect: 'irreversible',
  about: [
    'The next sync reads everything again. What only the copy knows goes with it: when something was first seen, changes, cuts and reports.',
  ],
  flags: { hard: option(flag({ doc: 'Delete the file in place of moving it aside.', basis: OURS })) },
  examples: [
    { does: 'Begin anew; the old file stays beside', run: 'books reset --yes' },
    { does: 'Delete the copy', run: 'books reset --hard --yes' },
  ],
  async run(ctx, { hard }) {
    const mirror = await ctx.mirror();
    const intent = hard ? `Delete the mirror ${mirror.path}` : `Move the mirror ${mirror.path} aside`;
    const again = `cardwright books reset${hard ? ' --hard' : ''} --yes`;
    if (ctx.dryRun) return { path: mirror.path, existed: (await mirror.status()).exists };
    await confirmed(ctx, { intent, question: `${intent}?`, command: again });
    return { path: mirror.path, ...(await mirror.reset({ hard: hard === true })) };
  },
  show: result => ({
    data: { ...result },
    noun: 'mirror',
    idField: 'path',
    columns: [
      { field: 'path', title: 'PATH', kind: 'text', priority: 1 },
      { field: 'existed', title: 'EXISTED', kind: 'boolean', priority: 1 },
      { field: 'moved_to', title: 'MOVED TO', kind: 'text', priority: 1, unlessEmpty: true },
    ],
  }),
});
