import { command } from '../../cli/parsing/command.ts';
import { local, OURS, option } from '../../cli/parsing/flag.ts';
import { flag, must } from '../../contract/field.ts';
import { file, requestNamed, requestOrFile } from './arguments.ts';
import { linesBelow, REQUEST_DETAIL, requestBlocks, requestDetail, requestText, SHOWN_COLUMNS } from './columns.ts';

/** What would be sent, checked against the digest that approvers sign. */
export const showRequest = command({
  path: 'approvals show',
  summary: 'Show what is held, and what would be sent',
  answers: { one: REQUEST_DETAIL },
  reach: 'files',
  ends: { check_failed: 'The rows are not those that were asked for. Do not approve it.' },
  about: [
    'Everything is read from the bytes that approvers sign. --rows shows every request that would be sent; all of them are always held against the digest in those bytes. Letters that are not ASCII stand as \\u{…}.',
  ],
  args: { request: requestOrFile },
  flags: {
    file,
    rows: option(flag({ doc: 'Show every request that would be sent.', basis: OURS })),
    out: option(must(local('file', 'Write the request to a new file, for a pull request.')), '<file>'),
  },
  examples: [
    { does: 'One of the journal', run: 'approvals show apr_00000000000000000000000001' },
    { does: 'The file of a pull request, whole', run: 'approvals show --file request.json --rows' },
  ],
  async run(ctx, { request: id, file: path, rows = false, out }) {
    const request = await requestNamed(ctx, { request: id, file: path });
    if (out !== undefined) await ctx.createFile(out, requestText(request));
    return { request, rows, out };
  },
  show: ({ request, rows, out }) => ({
    data: requestDetail(request, rows),
    noun: 'request',
    idField: 'id',
    columns: SHOWN_COLUMNS,
    linesBelow: linesBelow(request, rows),
    blocks: [
      ...requestBlocks(request, rows),
      ...(out === undefined ? [] : [{ kind: 'line', text: `Written to ${out}.` } as const]),
    ],
  }),
});
