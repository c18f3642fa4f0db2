import type { AuditEntry } from '../../audit/entry.ts';
import type { Context } from '../../cli/context.ts';
import { wholeListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { choice, flag, integer, text, time } from '../../contract/field.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { CliError } from '../../core/errors.ts';
import { brokenChain } from './broken.ts';
import { AUDIT_COLUMNS, AUDIT_ENTRY } from './columns.ts';

/** Lines of a list where nothing else was asked for. */
const PAGE_SIZE = LIMITS.pageSize.defaults;

/** Writes and reveals of this machine, newest first. */
export const listAudit = command({
  path: 'audit list',
  summary: 'List the writes and reveals of this machine, newest first',
  answers: { list: AUDIT_ENTRY },
  about: [
    'Each write and reveal has one line before its request and one with its outcome, also when the write was refused before it was sent. A run of many rows has one line at the start, one for each row, and one at the end. A line names the user and the machine. It holds no key, card number, code or label.',
  ],
  reach: 'files',
  ends: { check_failed: 'The chain is broken; the lines that can be read are shown.' },
  flags: {
    card: option(text({ doc: 'Only lines about this card.', basis: OURS, names: 'card' })),
    by: option(text({ doc: 'Only what this person did: a user, or user@machine.', basis: OURS }), '<user>'),
    operation: option(text({ doc: 'Only lines of this operation, such as cards.fund.', basis: OURS })),
    event: option(choice(['write', 'outcome', 'run', 'reveal', 'limit'], { doc: 'Only these lines.', basis: OURS })),
    since: option(time({ doc: 'Only lines since this time.', basis: OURS }), '<time>'),
    until: option(time({ doc: 'Only lines until this time.', basis: OURS }), '<time>'),
    all: option(flag({ doc: 'Every line.', basis: OURS })),
    limit: option(integer({ doc: 'At most this many lines.', basis: OURS, min: 1, defaults: PAGE_SIZE })),
  },
  examples: [
    { does: 'Who did what to a card', run: 'audit list --card card_1 -o wide' },
    { does: 'What one person funded this week', run: 'audit list --by ana --operation cards.fund --since 7d' },
    { does: 'Who revealed what', run: 'audit list --event reveal --json' },
  ],
  async run(ctx, { card, by, operation, event, since, until, all, limit }) {
    const { entries, failure } = await localLines(ctx);
    const wanted = entries.filter(
      entry =>
        (card === undefined || entry.card_id === card) &&
        (by === undefined || personsOf(entry).includes(by)) &&
        (operation === undefined || entry.operation === operation) &&
        (event === undefined || entry.event === event) &&
        (since === undefined || Date.parse(entry.at) >= Date.parse(since)) &&
        (until === undefined || Date.parse(entry.at) <= Date.parse(until)),
    );
    const most = all ? wanted.length : (limit ?? PAGE_SIZE);
    return { rows: wanted.toReversed().slice(0, most), limit: most, total: wanted.length, failure };
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

type Line = Lines['entries'][number];

/** Names of who did it: `ana` and `ana@laptop`. */
function personsOf({ user, host }: Line): readonly string[] {
  return user === undefined ? [] : [user, `${user}@${host}`];
}

interface Lines {
  readonly entries: readonly (Pick<AuditEntry, 'at' | 'card_id'> & {
    readonly event: string;
    readonly operation?: string | undefined;
    readonly user?: string | undefined;
    readonly host?: string | undefined;
  })[];
  readonly failure: CliError | undefined;
}

async function localLines(ctx: Context): Promise<Lines> {
  const log = await ctx.audit();
  const { entries, flaw } = await log.read();
  return { entries, failure: flaw && brokenChain(log.path, flaw) };
}
