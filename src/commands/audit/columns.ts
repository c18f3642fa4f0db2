import { maybe, tells } from '../../cli/answer-fields.ts';
import { SHORT_ID } from '../../cli/columns.ts';
import type { Column } from '../../terminal/view.ts';

export const AUDIT_COLUMNS: readonly Column[] = [
  { field: 'seq', title: 'LINE', kind: 'integer', priority: 3 },
  { field: 'at', title: 'AT', kind: 'time', priority: 1 },
  { field: 'event', title: 'EVENT', kind: 'word', priority: 1 },
  { field: 'user', title: 'USER', kind: 'text', priority: 3 },
  { field: 'profile', title: 'PROFILE', kind: 'text', priority: 4 },
  { field: 'mode', title: 'MODE', kind: 'word', priority: 5 },
  { field: 'operation', title: 'OPERATION', kind: 'word', priority: 1 },
  { field: 'card_id', title: 'CARD', kind: 'id', priority: 1, shortTo: SHORT_ID },
  { field: 'amount', title: 'AMOUNT', kind: 'money', priority: 1 },
  { field: 'outcome', title: 'OUTCOME', kind: 'word', priority: 1 },
  { field: 'reason', title: 'REASON', kind: 'word', priority: 4 },
  { field: 'of', title: 'OF', kind: 'integer', priority: 4 },
  { field: 'row', title: 'ROW', kind: 'integer', priority: 4, wideOnly: true },
  { field: 'kind', title: 'KIND', kind: 'word', priority: 5, wideOnly: true },
  { field: 'host', title: 'HOST', kind: 'text', priority: 5, wideOnly: true },
  { field: 'last4', title: 'LAST4', kind: 'id', priority: 4, wideOnly: true },
  { field: 'sink', title: 'INTO', kind: 'word', priority: 5, wideOnly: true },
  { field: 'rows', title: 'ROWS', kind: 'integer', priority: 5, wideOnly: true },
  { field: 'op', title: 'OP', kind: 'id', priority: 6, wideOnly: true, shortTo: SHORT_ID },
  { field: 'limit', title: 'LIMIT', kind: 'word', priority: 5, wideOnly: true },
  { field: 'before', title: 'BEFORE', kind: 'text', priority: 5, wideOnly: true },
  { field: 'after', title: 'AFTER', kind: 'text', priority: 5, wideOnly: true },
];

/** Of the log that several people share. */
export const SHARED_COLUMNS: readonly Column[] = [
  ...AUDIT_COLUMNS.map(
    (column): Column => (column.field === 'user' ? { field: 'who', title: 'WHO', kind: 'text', priority: 1 } : column),
  ),
  { field: 'recorded_at', title: 'BROUGHT', kind: 'time', priority: 4, wideOnly: true },
];

/** A line of the log; `prev` and `hash` chain them. */
export const AUDIT_ENTRY = {
  seq: tells.count('Number of the line, from 1.'),
  at: tells.time('When it happened.'),
  pid: tells.count('Process in which it happened.'),
  user: maybe(tells.text('User of the operating system; missing in lines of older releases.')),
  host: maybe(tells.text('Machine.')),
  recorded_at: maybe(
    tells.time('When the line was written, where a later command did that: the first one was killed.'),
  ),
  recorded_by: maybe(tells.count('Process that wrote it then.')),
  batch: maybe(tells.count('First of the lines that were written together with it.')),
  event: tells.word('What the line is.', ['write', 'outcome', 'run', 'reveal', 'limit']),
  profile: tells.text('Profile.'),
  mode: tells.word('Kind of key.', ['sandbox', 'test', 'live']),
  origin: tells.text('Address of the service.'),
  operation: tells.text('Operation of the contract, or the command of a run.'),
  card_id: maybe(tells.text('Card.')),
  last4: maybe(tells.text('Its last four digits.')),
  amount: maybe(tells.usd('Amount, USD.')),
  rows: maybe(tells.count('Rows of a run.')),
  row: maybe(tells.count('Row of a run, from 1.')),
  op: maybe(tells.text('Operation in the journal.')),
  idempotency_key: maybe(tells.text('Key chosen by the caller.')),
  sink: maybe(tells.text('Where card details went.')),
  outcome: maybe(tells.text('The outcome.')),
  kind: maybe(tells.text('Kind of the error.')),
  reason: maybe(tells.text("The service's word for why, or the status of its answer.")),
  limit: maybe(tells.text('Limit of a profile that was changed.')),
  before: maybe(tells.text('What it was before.')),
  after: maybe(tells.text('What it is now.')),
  of: maybe(tells.count('Line this is the outcome of.')),
  prev: tells.text('Digest of the line before.'),
  hash: tells.text('Digest of this line.'),
} as const;

/** What a line of the log that several people share has in every form. */
const SHARED_FACTS = {
  seq: tells.count('Number of the line, from 1.'),
  who: tells.text('Role and machine, `ana@laptop`.'),
  event: tells.text('What the line is: begun, outcome, taken, abandoned, write.'),
  profile: maybe(tells.text('Profile.')),
  mode: maybe(tells.word('Kind of key.', ['test', 'live'])),
  origin: maybe(tells.text('Address of the service.')),
  operation: maybe(tells.text('Command, or what an admin of the journal did.')),
  op: maybe(tells.text('Operation in the journal.')),
  card_id: maybe(tells.text('Card.')),
  last4: maybe(tells.text('Its last four digits.')),
  rows: maybe(tells.count('Rows of a run.')),
  row: maybe(tells.count('Row of a run, from 1.')),
  done: maybe(tells.count('Of a line that ends an operation: rows that were done.')),
  refused: maybe(tells.count('Rows that were refused.')),
  not_sent: maybe(tells.count('Rows that were not sent.')),
  outcome: maybe(tells.text('The outcome.')),
  reason: maybe(
    tells.text('Why an operation was taken over, what an admin set, or what was recorded of rows by hand.'),
  ),
  records_sha256: maybe(tells.text('Of a line that ends an operation: digest over its records.')),
  prev: tells.text('Digest of the line before.'),
  hash: tells.text('Digest of this line, as audit export --shared prints it.'),
} as const;

/** As it is shown. */
export const SHARED_ENTRY = {
  ...SHARED_FACTS,
  at: tells.time('When it happened.'),
  recorded_at: maybe(
    tells.time('When the line was brought, where that was later; `at` is of the clock of the machine then.'),
  ),
  amount: maybe(tells.usd('What the operation may move, or has moved where the line ends it, USD.')),
} as const;

/** As it is kept. */
export const SHARED_LINE = {
  ...SHARED_FACTS,
  at: tells.time('When it was written, by the clock of the database.'),
  asked_at: maybe(tells.time('When it happened, by the clock of the machine, where the line was brought later.')),
  cents: maybe(tells.count('What the operation may move, or has moved where the line ends it.')),
} as const;
