/** The audit log of this machine: listed, verified, exported. */

import { AUDIT_ENTRY, type AuditLog } from '../../audit/log.ts';
import { columnsOf, countOf, cutTo, rowsListing, SHORT_ID } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, option, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import { LIMITS } from '../../contract/limits.ts';
import { CliError } from '../../core/errors.ts';

export const AUDIT_COLUMNS = columnsOf(
  AUDIT_ENTRY,
  'seq:3 at event user:3 profile:4 mode:5 operation card_id amount outcome reason:4 of:4 row:4+ kind:5+ host:5+ last4:4+ sink:5+ rows:5+ op:6+ limit:5+ before:5+ after:5+',
  {
    seq: 'LINE',
    at: 'WHEN',
    operation: { kind: 'word' },
    card_id: { kind: 'id', shortTo: SHORT_ID },
    outcome: { kind: 'word' },
    sink: 'INTO',
    op: { kind: 'id', shortTo: SHORT_ID },
  },
);

/** The lines that can be read, and the failure of a broken chain: exit 15, and the line. */
async function linesOf(log: AuditLog) {
  const { entries, flaw } = await log.read();
  if (flaw === undefined) return { entries, failure: undefined };
  const { path } = log;
  const { line, why } = flaw;
  const failure = new CliError('check_failed', {
    message: `the audit log is broken at line ${line}: ${why}`,
    notes: [
      `The log is in ${path}. The lines before it are intact; the lines after it cannot be trusted.`,
      'Keep an export. A new log begins with a new journal, once every operation is finished: cardwright journal accept --set-aside',
    ],
    hint: 'cardwright audit export --out audit-broken.jsonl',
    evidence: { path, line, why },
  });
  return { entries, failure };
}

export const listAudit = command({
  path: 'audit list',
  summary: 'List the writes and reveals of this machine, newest first',
  answers: { list: AUDIT_ENTRY },
  about:
    'Each write and reveal has one line before its request and one with its outcome, also when the write was refused before it was sent. A run of many rows has one line at the start, one for each row, and one at the end. A line names the user and the machine. It holds no key, card number, code or label.',
  reach: 'files',
  ends: { check_failed: 'The chain is broken; the lines that can be read are shown.' },
  flags: {
    card: option(takes.text('Only lines about this card.', { names: 'card' })),
    by: option(takes.text('Only what this person did: a user, or user@machine.'), '<user>'),
    operation: option(takes.text('Only lines of this operation, such as cards.fund.')),
    event: option(takes.choice(['write', 'outcome', 'run', 'reveal', 'limit'], 'Only these lines.')),
    since: option(takes.time('Only lines since this time.'), '<time>'),
    until: option(takes.time('Only lines until this time.'), '<time>'),
    all: option(takes.flag('Every line.')),
    limit: option(takes.integer('At most this many lines.', { min: 1, defaults: LIMITS.pageSize.defaults })),
  },
  examples: {
    'Who did what to a card': 'audit list --card card_1 -o wide',
    'What one person funded this week': 'audit list --by ana --operation cards.fund --since 7d',
    'Who revealed what': 'audit list --event reveal --json',
  },
  async run(ctx, { card, by, operation, event, since, until, all, limit }) {
    const { entries, failure } = await linesOf(await ctx.journal.audit());
    const wanted = entries.filter(
      entry =>
        (card === undefined || entry.card_id === card) &&
        (by === undefined || [entry.user, `${entry.user}@${entry.host}`].includes(by)) &&
        (operation === undefined || entry.operation === operation) &&
        (event === undefined || entry.event === event) &&
        (since === undefined || Date.parse(entry.at) >= Date.parse(since)) &&
        (until === undefined || Date.parse(entry.at) <= Date.parse(until)),
    );
    const most = all ? wanted.length : (limit ?? LIMITS.pageSize.defaults);
    return { rows: wanted.toReversed().slice(0, most), total: wanted.length, failure };
  },
  noun: 'line',
  idField: 'seq',
  columns: AUDIT_COLUMNS,
  show: ({ rows, total, failure }) => ({
    listing: rowsListing(rows, { page: { total }, footer: count => cutTo(count, 'line', total) }),
    failure,
  }),
});

export const verifyAudit = command({
  path: 'audit verify',
  summary: 'Check that no line of the audit log was changed, added or removed',
  answers: {
    one: {
      ok: tells.yes('Always true; a broken chain, or one that lacks lines, is exit 15.'),
      lines: tells.count('Lines of the log.'),
      last: orNull(tells.text('Digest of the last line.')),
      path: tells.text('Journal that holds the log.'),
    },
  },
  about:
    'Every line contains the digest of the line before it, and the journal holds the last digest. A program that runs as this user can rewrite both, so keep exports on another machine.',
  reach: 'files',
  ends: { check_failed: 'The chain is broken.' },
  examples: { 'In words': 'audit verify' },
  async run(ctx) {
    const log = await ctx.journal.audit();
    const { entries, failure } = await linesOf(log);
    if (failure !== undefined) throw failure;
    return { ok: true, lines: entries.length, last: entries.at(-1)?.hash ?? null, path: log.path };
  },
  columns: ['ok lines last:2 path:2', { path: 'FILE' }],
  noun: 'log',
  idField: 'last',
  says: ({ lines, path }) => `${countOf(lines, 'line')}, unbroken: ${path}`,
});

export const exportAudit = command({
  path: 'audit export',
  summary: 'Print the audit log unchanged, one JSON object a line',
  answers: [{ list: AUDIT_ENTRY }, { none: 'With --out, everything is in the file.' }],
  about:
    'The output is the lines byte for byte, so that another program can check the chain. A broken log is printed too, with exit 15.',
  reach: 'files',
  ends: { check_failed: 'The chain is broken; the log is printed anyway.' },
  flags: {
    out: option(local('file', 'Write to a new file that only you can read.'), '<file>'),
  },
  examples: {
    'Keep a copy elsewhere': 'audit export --out audit.jsonl',
    'Into another program': 'audit export',
  },
  async run(ctx, { out }) {
    const log = await ctx.journal.audit();
    const [content = '', { entries, failure }] = await Promise.all([log.text(), linesOf(log)]);
    if (out !== undefined) await ctx.files.createFile(out, content);
    return { content: out === undefined ? content : undefined, entries, failure };
  },
  noun: 'line',
  idField: 'seq',
  columns: AUDIT_COLUMNS,
  show: ({ content, entries, failure }) => ({
    ...(content === undefined ? { verbatim: '' } : { prose: content }),
    listing: rowsListing(entries, { noun: 'line' }),
    failure,
  }),
});
