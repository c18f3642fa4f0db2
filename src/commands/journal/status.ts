import { orNull, tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { must, text } from '../../contract/field.ts';
import { cents, dollars, toCents, toUsd } from '../../core/money.ts';
import type { ComparedStatus } from '../../team/compared-status.ts';
import { endOfLock, lockerText } from '../../team/locked-account.ts';
import { inOneLine } from '../../team/refusals.ts';

/** Where the shared journal of an account stands; it writes nothing. */
export const journalStatus = command({
  path: 'journal status',
  summary: 'Show a shared journal: server, role, caps and what is used of them',
  answers: {
    one: {
      journal: tells.text('Its address, without the password.'),
      journal_id: tells.text('Identifier of the journal.'),
      schema: tells.count('Number of its schema.'),
      server: tells.text('Version of PostgreSQL.'),
      standby: tells.yes('Whether the server only reads.'),
      account: tells.text('Name of the account.'),
      origin: tells.text('Origin of the service.'),
      mode: tells.word('Mode of the API keys.', ['test', 'live']),
      role: tells.text('Role that this run logged in as.'),
      can: tells.texts('What it may do: read, operate, approve, admin.'),
      lines: tells.count('Lines of the audit log.'),
      last: tells.text('Digest of the last line.'),
      moved: tells.yes(
        'The database was restored, copied or failed over; nothing is written until an admin accepts it.',
      ),
      lost: orNull(
        tells.text(
          'Who has seen lines that it has lost, perhaps this machine; nothing is written until an admin accepts the database.',
        ),
      ),
      key_listed: orNull(
        tells.yes(
          'Whether the account lists the API key of this run; where it does not, each change is refused. null where no change could use it: no key, another service, or a role that does not operate.',
        ),
      ),
      left_to: orNull(
        tells.text(
          'The machine, role@host, that goes on with the account alone; nobody else moves money until it comes back.',
        ),
      ),
      locked_by: orNull(
        tells.text(
          'The session of the database that locks the account, so that every change waits and is refused: pid, role, since.',
        ),
      ),
      frozen: orNull(tells.text('Why the account is frozen.')),
      frozen_by: orNull(tells.text('Role that has frozen it.')),
      frozen_at: orNull(tells.time('When.')),
      day: tells.text('Day that spending counts for, UTC.'),
      used: tells.usd('Spent and held on that day, USD.'),
      caps: tells.map('Caps of the account: max_per_call, max_per_run and max_per_day in USD, max_cards.'),
      rules: tells.map(
        'What other persons must approve: approve_above and approve_day in USD, approve_irreversible (1), approve_rows, approvals_needed, approve_within_hours.',
      ),
      bins: tells.texts('BINs that cards may be made with; empty for all.'),
      clock_off_ms: tells.number('Time of the server less that of this machine, ms.'),
    },
  },
  about: [
    'Connects and reads; nothing is written. --journal takes no password: everybody on this machine sees a command line. It comes in CARDWRIGHT_JOURNAL_URL, in the file of CARDWRIGHT_JOURNAL_URL_FILE, or in that of CARDWRIGHT_JOURNAL_PASSWORD_FILE.',
    'TLS is verified in full: sslmode=verify-full, and sslrootcert where the system does not know the authority. Only a Unix socket and an address of this machine need none.',
  ],
  ends: {
    guarded: 'The journal cannot be reached, refuses the role, or has another schema.',
    check_failed: 'A newer cardwright made its schema.',
  },
  flags: {
    account: option(
      must(text({ doc: 'Account in the journal; that of this run by default.', basis: OURS, maxLength: 64 })),
      '<name>',
    ),
  },
  examples: [
    { does: 'In words', run: 'journal status --account main' },
    {
      does: 'Another journal, as data',
      run: 'journal status --account main --journal postgres://ana@db.example.com/journal --json',
    },
  ],
  async run(ctx, { account: named }) {
    const account = named ?? (await ctx.teamAccount());
    if (account === undefined) throw usage('journal status needs --account <name>', 'cardwright journal status --help');
    await using connection = await ctx.teamJournal();
    const compared = await ctx.journalStatus(connection, account);
    const key = await ctx.journalKey(connection, compared.status);
    if (key?.listed === false) ctx.notice(`warning: ${inOneLine(key.refusal)}`);
    if (compared.locked !== undefined)
      ctx.notice(`warning: another session locks the account. ${endOfLock(compared.locked)}`);
    return answerOf(compared, { shown: connection.shown, now: ctx.clock.now(), listed: key?.listed ?? null });
  },
  show: status => ({
    data: status,
    noun: 'journal',
    idField: 'journal_id',
    columns: [
      { field: 'account', title: 'ACCOUNT', kind: 'text', priority: 1 },
      { field: 'role', title: 'ROLE', kind: 'text', priority: 1 },
      { field: 'used', title: 'USED', kind: 'money', priority: 1 },
      { field: 'caps', title: 'CAPS', kind: 'map', priority: 1 },
      { field: 'bins', title: 'BINS', kind: 'list', priority: 2 },
      { field: 'rules', title: 'RULES', kind: 'map', priority: 1 },
      { field: 'moved', title: 'MOVED', kind: 'boolean', priority: 1 },
      { field: 'lost', title: 'LOST', kind: 'text', priority: 1 },
      { field: 'key_listed', title: 'KEY LISTED', kind: 'boolean', priority: 1 },
      { field: 'left_to', title: 'ONE MACHINE', kind: 'text', priority: 2 },
      { field: 'locked_by', title: 'LOCKED BY', kind: 'text', priority: 2 },
      { field: 'frozen', title: 'FROZEN', kind: 'text', priority: 1 },
      { field: 'frozen_by', title: 'FROZEN BY', kind: 'text', priority: 2 },
      { field: 'frozen_at', title: 'FROZEN FOR', kind: 'time', priority: 3 },
      { field: 'lines', title: 'LINES', kind: 'integer', priority: 2 },
      { field: 'server', title: 'SERVER', kind: 'text', priority: 2 },
    ],
    blocks: [{ kind: 'pairs', pairs: statusPairs(status) }],
  }),
});

type Status = ReturnType<typeof answerOf>;

function statusPairs(status: Status): readonly (readonly [string, string])[] {
  const { account, mode, origin, journal, role, can, used, day, bins, caps, rules, lines, server, schema } = status;
  return [
    ['Account', `${account}, ${mode.toUpperCase()}, ${origin}`],
    ['Journal', journal],
    ['Role', `${role}: ${can.join(', ')}`],
    ['Used', `${dollars(toCents(used))} on ${day} (UTC)`],
    ['Caps', limitsText(caps, CAP_COUNTS)],
    ['BINs', bins.length === 0 ? 'all' : bins.join(', ')],
    ['Approval', limitsText(rules, RULE_COUNTS)],
    ...troublePairs(status),
    ['Audit log', lines === 1 ? '1 line' : `${lines} lines`],
    ['Server', `PostgreSQL ${server}, schema ${schema}${status.standby ? ', a standby: it only reads' : ''}`],
  ];
}

function troublePairs({
  moved,
  lost,
  key_listed,
  left_to,
  locked_by,
  frozen,
  frozen_by,
  frozen_at,
}: Status): readonly (readonly [string, string])[] {
  return [
    [
      'Database',
      moved
        ? 'restored, copied or failed over; nothing is written until an admin accepts it'
        : 'the one that the account knows',
    ] as const,
    ...(lost === null ? [] : [['Lost', lost] as const]),
    ...(key_listed === false ? [['Key', 'not listed in the account; each change ends with 14'] as const] : []),
    ...(left_to === null ? [] : [['One machine', `${left_to}; nobody else moves money until it comes back`] as const]),
    ...(locked_by === null ? [] : [['Locked by', `${locked_by}; every change waits and is refused`] as const]),
    ...(frozen === null ? [] : [['Frozen', `${frozen}, by ${frozen_by}, at ${frozen_at}`] as const]),
  ];
}

function limitsText(values: Readonly<Record<string, number>>, counts: readonly string[]): string {
  const texts = Object.entries(values).map(
    ([name, value]) => `${name} ${counts.includes(name) ? value : dollars(toCents(value))}`,
  );
  return texts.join(', ') || 'none';
}

const CAP_COUNTS = ['max_cards'];
const RULE_COUNTS = ['approve_irreversible', 'approve_rows', 'approvals_needed', 'approve_within_hours'];

function answerOf(
  { status, behind, locked }: ComparedStatus,
  { shown, now, listed }: { readonly shown: string; readonly now: number; readonly listed: boolean | null },
) {
  const { head, clock_ms, caps, rules, used, accepted: _, ...rest } = status;
  return {
    journal: shown,
    ...rest,
    lost: behind?.isLost === true ? behind.why : status.lost,
    key_listed: listed,
    locked_by: locked === undefined ? null : lockerText(locked),
    lines: head.seq,
    last: head.hash,
    used: toUsd(cents(used)),
    caps: inUsd(caps, CAP_COUNTS),
    rules: inUsd(rules, RULE_COUNTS),
    clock_off_ms: clock_ms - now,
  };
}

/** Amounts as numbers in USD; what the names count stays as it is. */
function inUsd(values: Readonly<Record<string, number>>, counts: readonly string[]): Readonly<Record<string, number>> {
  const numbers = Object.entries(values).map(([name, value]) => [
    name,
    counts.includes(name) ? value : toUsd(cents(value)),
  ]);
  return Object.fromEntries(numbers) as Readonly<Record<string, number>>;
}
