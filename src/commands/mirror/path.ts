import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';

/** Where the copy of the profile is. */
export const mirrorPath = command({
  path: 'mirror path',
  summary: 'Print where the local copy is',
  answers: { one: { path: tells.text('Path of the file, whether it is there or not.') } },
  reach: 'files',
  examples: [
    { does: 'The file', run: 'mirror path' },
    { does: 'As data', run: 'mirror path --json' },
  ],
  run: async ctx => ({ path: (await ctx.mirror()).path }),
  show: ({ path }) => ({
    prose: `${path}\n`,
    noun: 'mirror',
    idField: 'path',
    columns: [{ field: 'path', title: 'PATH', kind: 'text', priority: 1 }],
  }),
});
