import { orNull, tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { brokenChain } from './broken.ts';

/** Follows the chain from its first line to its last. */
export const verifyAudit = command({
  path: 'audit verify',
  summary: 'Check that no line of the audit log was changed, added or removed',
  answers: {
    one: {
      ok: tells.yes('Always true; a broken chain, or one that lacks lines, is exit 15.'),
      lines: tells.count('Lines of the log.'),
      last: orNull(tells.text('Digest of the last line.')),
      path: tells.text('File of the log.'),
    },
  },
  about: [
    'Every line contains the digest of the line before it, and a file beside the log holds the last digest. A program that runs as this user can rewrite both, so keep exports on another machine.',
  ],
  reach: 'files',
  ends: { check_failed: 'The chain is broken.' },
  examples: [
    { does: 'In words', run: 'audit verify' },
    { does: 'For a script: exit 15 when it is broken', run: 'audit verify --json' },
  ],
  async run(ctx) {
    const log = await ctx.audit();
    const { entries, flaw } = await log.read();
    if (flaw !== undefined) throw brokenChain(log.path, flaw);
    return { ok: true, lines: entries.length, last: entries.at(-1)?.hash ?? null, path: log.path };
  },
  show: ({ lines, path }) => ({
    noun: 'log',
    idField: 'last',
    columns: [
      { field: 'ok', title: 'OK', kind: 'boolean', priority: 1 },
      { field: 'lines', title: 'LINES', kind: 'integer', priority: 1 },
      { field: 'last', title: 'LAST', kind: 'id', priority: 2 },
      { field: 'path', title: 'FILE', kind: 'text', priority: 2 },
    ],
    blocks: [{ kind: 'line', text: `${lines} ${lines === 1 ? 'line' : 'lines'}, unbroken: ${path}` }],
  }),
});
