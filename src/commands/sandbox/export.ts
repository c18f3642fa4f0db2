import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, OURS } from '../../cli/parsing/flag.ts';
import { text } from '../../contract/field.ts';
import { CliError } from '../../core/errors.ts';

/** Writes everything the sandbox holds into one file. */
export const exportSandbox = command({
  path: 'sandbox export',
  summary: 'Write everything the sandbox holds into one file',
  answers: { one: { file: tells.text('File that was written.'), bytes: tells.count('Its size.') } },
  about: [
    'The file is a snapshot with the sums of all its parts: lines of JSON, 0600 because it holds test card data. It is written beside, synced and renamed; an export is replaced, any other file of that name is left alone.',
  ],
  reach: 'files',
  args: { file: argument(text({ doc: 'File to write.', basis: OURS })) },
  examples: [
    { does: 'A copy to hand on', run: 'sandbox export sandbox.ndjson' },
    { does: 'How large it is, as data', run: 'sandbox export before.ndjson --json' },
  ],
  async run(ctx, { file }) {
    if (ctx.dryRun) {
      throw new CliError('usage', { message: 'sandbox export sends nothing to the service; it has no dry run' });
    }
    return { file, bytes: await ctx.exportSandbox(file) };
  },
  show: ({ file, bytes }) => ({
    noun: 'export',
    idField: 'file',
    columns: [
      { field: 'file', title: 'FILE', kind: 'text', priority: 1 },
      { field: 'bytes', title: 'BYTES', kind: 'integer', priority: 1 },
    ],
    blocks: [{ kind: 'line', text: `Wrote ${file}, ${bytes} bytes.` }],
  }),
});
