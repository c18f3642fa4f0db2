import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, local } from '../../cli/parsing/flag.ts';
import { CliError } from '../../core/errors.ts';

/** Writes everything the sandbox holds into one file. */
export const exportSandbox = command({
  path: 'sandbox export',
  summary: 'Write the whole state of the sandbox to a file',
  answers: { one: { file: tells.text('File that was written.'), bytes: tells.count('Its size.') } },
  about: [
    'The file holds lines of JSON with checksums. Its mode is 0600 because it holds test card data. An older export of that name is replaced; any other file of that name is not touched.',
  ],
  reach: 'files',
  ends: {
    not_authenticated: 'The token is not that of the sandbox elsewhere.',
    unreachable: 'The sandbox elsewhere does not answer.',
  },
  args: { file: argument(local('file', 'File to write.')) },
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
