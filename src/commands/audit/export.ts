import { command } from '../../cli/command.ts';
import { OURS, option } from '../../cli/flag.ts';
import { text } from '../../contract/field.ts';
import { brokenChain } from './broken.ts';

/** The log as it is, line for line, so that its digests can be checked elsewhere. */
export const exportAudit = command({
  path: 'audit export',
  summary: 'Print the audit log as it is, one JSON object a line',
  about: [
    'The bytes are those of the file, so that the chain can be followed elsewhere. A broken log is printed too, and ends with exit 15.',
  ],
  flags: { out: option(text({ doc: 'Into a new file that only you can read.', basis: OURS }), '<file>') },
  examples: [
    { does: 'Keep a copy elsewhere', run: 'audit export --out audit.jsonl' },
    { does: 'Into another program', run: 'audit export' },
  ],
  async run(ctx, { out }) {
    const log = await ctx.audit();
    const [content = '', { flaw }] = await Promise.all([log.text(), log.read()]);
    if (out !== undefined) await ctx.createFile(out, content);
    return { content: out === undefined ? content : '', flaw, path: log.path };
  },
  show: ({ content, flaw, path }) => ({
    verbatim: content,
    noun: 'line',
    columns: [],
    ...(flaw && { failure: brokenChain(path, flaw) }),
  }),
});
