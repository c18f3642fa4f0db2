import type { Context } from '../../cli/context.ts';
import { wholeListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, option } from '../../cli/parsing/flag.ts';
import { brokenChain } from './broken.ts';
import { AUDIT_COLUMNS, AUDIT_ENTRY } from './columns.ts';

/** The log as it is, line for line, so that its digests can be checked elsewhere. */
export const exportAudit = command({
  path: 'audit export',
  summary: 'Print the audit log unchanged, one JSON object a line',
  answers: {
    either: [{ list: AUDIT_ENTRY }, { none: 'With --out, everything is in the file.' }],
  },
  about: [
    'The output is the file byte for byte, so that another program can check the chain. A broken log is printed too, with exit 15.',
  ],
  reach: 'files',
  ends: { check_failed: 'The chain is broken; the log is printed anyway.' },
  flags: {
    out: option(local('file', 'Write to a new file that only you can read.'), '<file>'),
  },
  examples: [
    { does: 'Keep a copy elsewhere', run: 'audit export --out audit.jsonl' },
    { does: 'Into another program', run: 'audit export' },
  ],
  async run(ctx, { out }) {
    const { content, entries, failure } = await localLog(ctx);
    if (out !== undefined) await ctx.createFile(out, content);
    return { content: out === undefined ? content : undefined, entries, failure };
  },
  show: ({ content, entries, failure }) => ({
    ...(content === undefined ? { verbatim: '' } : { prose: content }),
    listing: wholeListing({ data: entries, page: { total: entries.length } }, { noun: 'line' }),
    noun: 'line',
    idField: 'seq',
    columns: AUDIT_COLUMNS,
    ...(failure && { failure }),
  }),
});

async function localLog(ctx: Context) {
  const log = await ctx.audit();
  const [content = '', { entries, flaw }] = await Promise.all([log.text(), log.read()]);
  return { content, entries: entries as readonly object[], failure: flaw && brokenChain(log.path, flaw) };
}
