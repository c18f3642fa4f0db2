import type { AuditEntry } from '../../audit/entry.ts';
import type { Context } from '../../cli/context.ts';
import { wholeListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { choice, integer, text, time } from '../../contract/field.ts';
import type { CliError } from '../../core/errors.ts';
import { brokenChain } from './broken.ts';
import { AUDIT_COLUMNS, AUDIT_ENTRY } from './columns.ts';

/** Writes and reveals of this machine, newest last. */
export const listAudit = command({
  path: 'audit list',
  summary: 'List the writes and reveals of this machine',
  answers: { list: AUDIT_ENTRY },
  about: [
    'Each write and reveal has one line before its request and one with its outcome, also when the write was refused before it was sent. A run of many rows has one line at the start, one for each row, and one at the end. A line names the user and the machine. It holds no key, card number, code or label.',
  ],
  reach: 'files',
  ends: { check_failed: 'The chain is broken; the lines that can be read are shown.' },
  flags: {
    card: option(text({ doc: 'Only lines about this card.', basis: OURS, names: 'card' })),
    event: option(choice(['write', 'outcome', 'run', 'reveal', 'limit'], { doc: 'Only these lines.', basis: OURS })),
    since: option(time({ doc: 'Only lines since this time.', basis: OURS }), '<time>'),
    limit: option(integer({ doc: 'Only the last n.', basis: OURS, min: 1 })),
  },
  examples: [
    { does: 'The last ten', run: 'audit list --limit 10' },
    { does: 'Who did what to a card', run: 'audit list --card card_1 -o wide' },
    { does: 'Who revealed what', run: 'audit list --event reveal --json' },
  ],
  async run(ctx, { card, event, since, limit }) {
    const { entries, failure } = await localLines(ctx);
    const wanted = entries.filter(
      entry =>
        (card === undefined || entry.card_id === card) &&
        (event === undefined || entry.event === event) &&
        (since === undefined || Date.parse(entry.at) >= Date.parse(since)),
    );
    const rows = limit === undefined ? wanted : wanted.slice(-limit);
    return { rows, limit, total: wanted.length, failure };
  },
  show: ({ rows, limit, total, failure }) => {
    return {
      listing: wholeListing({ data: rows, page: { total } }, { noun: 'line', limit }),
      noun: 'line',
      idField: 'seq',
      columns: AUDIT_COLUMNS,
      ...(failure && { failure }),
    };
  },
});

interface Lines {
  readonly entries: readonly (Pick<AuditEntry, 'at' | 'card_id'> & { readonly event: string })[];
  readonly failure: CliError | undefined;
}

async function localLines(ctx: Context): Promise<Lines> {
  const log = await ctx.audit();
  const { entries, flaw } = await log.read();
  return { entries, failure: flaw && brokenChain(log.path, flaw) };
}
