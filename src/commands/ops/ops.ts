/** Operations in the journal: listed, shown, resumed. Field names are ours; amounts are JSON numbers in USD. */

import { ITEM_COLUMNS, LOOKED_ANSWER } from '../../cli/bulk/results.ts';
import { resumeRows } from '../../cli/bulk/run.ts';
import type { Context, Shown } from '../../cli/context.ts';
import { columnsOf, cutTo, rowsListing, SHORT_ID } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, maybe, option, orNull, takes, tells, typedOnly } from '../../cli/parsing/flag.ts';
import { must, type ValueOf } from '../../contract/field.ts';
import { READ_LAG } from '../../contract/spans.ts';
import { isoSeconds, SECOND } from '../../core/durations.ts';
import { undefinedOn } from '../../core/errors.ts';
import { cents, dollars, toUsd } from '../../core/money.ts';
import { withoutUndefined } from '../../core/objects.ts';
import { type Change, rowState } from '../../journal/records.ts';
import type { OpDetail, OpState, OpSummary } from '../../journal/types.ts';
import { reasonOf } from '../../journal/words.ts';
import { pairsBlock, type Row, tableBlock } from '../../terminal/view.ts';

export const op = argument(
  must(takes.text('Id of an operation, op_ and 26 characters.', { maxLength: 29, names: 'op' })),
);

/** Every state and what it means, in the order in which help lists them. */
const OP_STATES = {
  running: 'A process works on it.',
  pending: 'Held until other persons approve it; the same command again, or ops resume, sends it then.',
  open: 'Some rows were not sent.',
  unknown: 'Sent, but no trustworthy answer came.',
  unacknowledged:
    'Every row is settled, but its command ended before it could say so, or what was made is not as asked. The same change is refused until ops resume shows what came of it.',
  finished: 'Nothing of it is left to do.',
  not_sent: 'It is over, and nothing of it was done: no row was sent, or a person has said so.',
  rejected: 'Its request was rejected or expired. Nothing was sent.',
} as const satisfies Record<OpState, string>;
const STATE_NAMES = Object.keys(OP_STATES) as OpState[];

function summaryRow({ op, command, state, rows, counts, cents, ...summary }: OpSummary): Row {
  const { profile, mode, started_at, heldBy } = summary;
  const { holder, host } = heldBy;
  // A freeze moves none, and what a termination brings back is not known.
  const amount = cents > 0 ? toUsd(cents) : null;
  return { op, command, state, rows, ...counts, amount, profile, mode, started_at, holder, host };
}

function itemRow(change: Change): Row {
  const { n, operation, card, last4, amount, facts, intent, key, evidence, lastSentAt, decidedAt } = change;
  const { resolved, lookedAt, duplicate, requestId, seen } = evidence;
  return withoutUndefined({
    row: n,
    operation,
    last4,
    label: facts.label,
    intent,
    purpose: facts.purpose,
    reason: reasonOf(change),
    found: seen,
    resolved: resolved && { ...resolved, at: isoSeconds(decidedAt ?? 0) },
    duplicate,
    outcome: rowState(change),
    card_id: card,
    amount: amount > 0 ? toUsd(cents(amount)) : undefined,
    idempotency_key: key,
    request_id: requestId,
    sent_at: lastSentAt === undefined ? undefined : isoSeconds(lastSentAt),
    checked_at: lookedAt === undefined ? undefined : isoSeconds(lookedAt),
  });
}

/** An operation as data. */
const OP_ROW = {
  op: tells.text('Id of the operation.'),
  command: tells.text('Words of the command.'),
  state: tells.word('Where it stands.', STATE_NAMES),
  rows: tells.count('Rows in all.'),
  done: tells.count('Rows that are done.'),
  refused: tells.count('Rows that were refused.'),
  unknown: tells.count('Rows sent without a trustworthy answer.'),
  not_sent: tells.count('Rows that were given up before they were sent.'),
  open: tells.count('Rows that may still be sent.'),
  amount: orNull(tells.usd('Sum of the rows, USD; null where none moves money.')),
  profile: tells.text('Profile.'),
  mode: tells.word('Kind of key.', ['sandbox', 'test', 'live']),
  started_at: tells.time('When it began.'),
  holder: tells.text('User who works on it, or did last.'),
  host: tells.text('Machine of that user.'),
} as const;

/** What 11 means of a command that writes to the journal alone. */
export const KEPT_OR_NOT = 'Whether the shared journal kept it is unknown; cardwright ops list tells.';

export const OP_COLUMNS = columnsOf(OP_ROW, 'op command:2 state rows:3 done:3 amount profile:4 started_at:3', {
  op: { shortTo: SHORT_ID },
  amount: 'ASKED',
  started_at: 'AGE',
});

/** In a journal of several people. */
const SHARED_OP_COLUMNS = [...OP_COLUMNS, ...columnsOf(OP_ROW, 'holder:3 host:5')];

/** Where the approval of an operation stands. */
export const APPROVAL = {
  have: tells.count('Persons who have approved it.'),
  needed: tells.count('Persons who must approve it.'),
  persons: tells.texts('Who has.'),
} as const;

const WAITING = {
  ...APPROVAL,
  why: tells.text('The rule that holds it.'),
  requested_by: tells.text('Who has asked.'),
  expires_at: tells.time('Until when it can be approved.'),
} as const;

export const OP_DETAIL = {
  ...OP_ROW,
  origin: tells.text('Address of the service.'),
  items: tells.rows(
    {
      row: tells.count('Number of the row, from 1.'),
      outcome: tells.word('Where it stands.', ['open', 'done', 'refused', 'unknown', 'not_sent']),
      operation: tells.text('Operation of the contract.'),
      card_id: maybe(tells.text('Card.')),
      last4: maybe(tells.text('Its last four digits.')),
      amount: maybe(tells.usd('Amount, USD.')),
      label: maybe(tells.text('Label.')),
      intent: maybe(tells.text("The caller's own name for it.")),
      purpose: maybe(tells.text('What it is for.')),
      idempotency_key: maybe(tells.text('Key it is sent under.')),
      request_id: maybe(tells.text('Identifier of the request.')),
      sent_at: maybe(tells.time('When bytes last left.')),
      reason: maybe(tells.text('Why it was not done.')),
      checked_at: maybe(tells.time('When its effect was looked for last.')),
      found: maybe(tells.text('Result of the last look.')),
      resolved: maybe(tells.json('What a person recorded: as, note, at, who.')),
      duplicate: maybe(tells.texts('Cards made for this one row, when there are several.')),
    },
    'The rows.',
  ),
  events: tells.rows(
    {
      at: tells.time('When it happened.'),
      row: maybe(tells.count('Row that it is about.')),
      kind: tells.text('resumed, resolved, approved, rejected.'),
      text: tells.text('Who, and why.'),
    },
    'What happened to it beside its rows.',
  ),
  objections: tells.texts('What its verification objected to.'),
  approval: maybe(tells.object(WAITING, 'Of a pending one.')),
} as const;

export const listOps = command({
  path: 'ops list',
  summary: 'List money operations and runs of many rows',
  answers: { list: OP_ROW },
  about: 'Of every profile. HOLDER works on it, or did last. No request is sent.',
  terms: {
    title: 'States',
    rows: Object.entries(OP_STATES).map(([term, means]) => ({ term, means })),
  },
  reach: 'files',
  ends: { check_failed: 'The journal is damaged.' },
  flags: {
    state: option(takes.choice(STATE_NAMES, 'Only operations in this state.')),
    limit: option(takes.integer('Only the newest n.', { min: 1 })),
  },
  examples: {
    'Operations with an unknown outcome': 'ops list --state unknown',
    'All of them, newest first': 'ops list',
    'Who works now': 'ops list --state running',
  },
  async run(ctx, { state, limit }) {
    const all = await (await ctx.journal.open()).list();
    const found = all.filter(op => state === undefined || op.state === state);
    const pending = ctx.ui.forPeople ? found.filter(({ state }) => state === 'pending').slice(0, MOST_REVIEWED) : [];
    for (const { op } of pending) {
      const approval = await approvalOf(ctx, op);
      if (approval && approval.have >= approval.needed)
        ctx.ui.notice(`${op} is approved, and not sent yet: cardwright ops resume ${op}`);
    }
    return { found, limit };
  },
  show({ found, limit }) {
    const left = found.filter(({ state }) => state === 'unknown' || state === 'unacknowledged');
    const [first] = left;
    return {
      listing: rowsListing(found.slice(0, limit).map(summaryRow), {
        page: { total: found.length },
        footer: count =>
          first === undefined
            ? cutTo(count, 'operation', found.length)
            : `${left.length} to settle: cardwright ops resume ${left.length === 1 ? first.op : '<op>'}`,
      }),
      noun: 'operation',
      idField: 'op',
      columns:
        new Set(found.map(({ heldBy }) => `${heldBy.holder}@${heldBy.host}`)).size > 1 ? SHARED_OP_COLUMNS : OP_COLUMNS,
    };
  },
});

export const showOp = command({
  path: 'ops show',
  summary: 'Show one operation: what was asked, sent and found',
  answers: { one: OP_DETAIL },
  reach: 'files',
  ends: { not_found: 'This machine knows no such operation.' },
  args: { op },
  examples: {
    'Every row of it': 'ops show op_00000000000000000000000001',
  },
  async run(ctx, { op }) {
    const detail = await (await ctx.journal.open()).show(op);
    return { detail, approval: detail.state === 'pending' ? await approvalOf(ctx, op) : undefined };
  },
  show: ({ detail, approval }) => showDetail(detail, approval),
});

/** So many that wait are looked at for a list. */
const MOST_REVIEWED = 20;

/** How many have approved an op that waits; undefined where its request was changed, which approving and resuming refuse. */
async function approvalOf(ctx: Context, op: string): Promise<ValueOf<typeof WAITING> | undefined> {
  const request = await undefinedOn('check_failed', (await ctx.journal.admin()).review(op));
  return (
    request && { have: request.persons.length, needed: request.needed, persons: request.persons, ...request.waits }
  );
}

export function showDetail(detail: OpDetail, approval?: ValueOf<typeof WAITING>): Shown {
  const { op, command: asked, state, started_at, profile, mode, origin, changes, cents, heldBy } = detail;
  const events = detail.events.map(
    ({ at, row, kind, text }) => `${at}  ${row === undefined ? '' : `row ${row} `}${kind} ${text}`,
  );
  return {
    data: {
      ...summaryRow(detail),
      origin,
      items: changes.map(itemRow),
      events: detail.events.map(({ at, row, kind, text }) => withoutUndefined({ at, row, kind, text })),
      objections: detail.objections,
      ...(approval && { approval }),
    },
    noun: 'operation',
    idField: 'op',
    columns: SHARED_OP_COLUMNS,
    rows: { columns: ITEM_COLUMNS, rows: changes.map(shownRow) },
    blocks: [
      pairsBlock([
        ['Operation', op],
        ['Command', asked],
        ['State', state],
        ['Begun', started_at],
        [
          'Holder',
          `${heldBy.holder} on ${heldBy.host}${heldBy.leftMs > 0 ? `, working, lease ${Math.ceil(heldBy.leftMs / 1000)} s` : ''}`,
        ],
        ['Profile', `${profile}, ${{ sandbox: 'sandbox', test: 'TEST', live: 'LIVE' }[mode]}, ${origin}`],
        ...(cents > 0 ? [['Amount', dollars(cents)] as const] : []),
      ]),
      tableBlock(ITEM_COLUMNS, changes.map(shownRow)),
    ],
    notes: [...detail.objections, ...events, ...nextSteps(detail, approval)],
  };
}

/** In a table an outcome that somebody has said is not to be taken for one that was seen. The data has `resolved`. */
function shownRow(change: Change): Row {
  const { resolved } = change.evidence;
  if (resolved?.as !== 'done') return itemRow(change);
  const at = isoSeconds(change.decidedAt ?? 0);
  return {
    ...itemRow(change),
    reason: `${change.operation} was declared done by ${resolved.who} at ${at}: ${resolved.note}`,
  };
}

function nextSteps({ op, state }: OpDetail, approval: ValueOf<typeof WAITING> | undefined): readonly string[] {
  if (approval !== undefined) {
    const { have, needed, why, requested_by: by, expires_at: until } = approval;
    const next = have < needed ? 'approve' : 'resume';
    return [
      `${by} has asked, until ${until}: ${why}.`,
      `${have} of ${needed} have approved it: cardwright ops ${next} ${op}`,
      `It is not wanted any more: cardwright ops reject ${op} --reason "why"`,
    ];
  }
  if (state !== 'unknown' && state !== 'open') return [];
  return [
    `Look and finish: cardwright ops resume ${op}`,
    `Record by hand that it happened: cardwright ops resolve ${op} --as done --note "why"`,
    `Record by hand that it did not: cardwright ops resolve ${op} --as not-done --note "why"`,
  ];
}

export const resumeOp = command({
  path: 'ops resume',
  summary: 'Finish an operation that stopped',
  answers: LOOKED_ANSWER,
  effect: 'moves-money',
  dryRun: true,
  reach: 'service',
  ends: {
    not_confirmed: 'Declined, or nobody could be asked. Nothing was sent.',
    not_found: 'This machine knows no such operation.',
    partly_failed: 'Finished; some rows failed, none is unknown.',
    insufficient_funds: 'The wallet is too low for what was sent again.',
    outcome_unknown:
      'Some rows are still unknown. The last line says what leads on: another look later, or a person who decides.',
    guarded: 'A guard refused it. Nothing was sent.',
  },
  about: [
    `First looks for the effect of each row without a trustworthy answer: a create by its marker, a transfer by the balance of its card, a state by reading it, for ${READ_LAG / SECOND} seconds. Such a row is sent again, twice at most, only with its own idempotency key, only when the look did not find it, and only if the service is known to honour that key, which is not old. Rows that were never sent are sent.`,
    'An operation of somebody else is resumed when its lease is over; --reason says why, and stands in the journal. A held one is released when it has its approvals.',
    '--dry-run looks, and says of each row what a resume would do with it: send it, send it again, or leave it to a person. It ends with 0 when that is known of every row, and with 11 while a row stays unknown.',
    '--resend-absent also sends rows again of which no trace was found, with the same key, once nothing of the first sending can be on its way any more (150 s). If the service ignores keys and is slow, that can make a second card. A fund or withdrawal of a file is not: what is spent at once leaves no trace on its card.',
  ],
  args: { op },
  flags: {
    resendAbsent: typedOnly(option(takes.flag('Also send rows of which no trace was found.'))),
    reason: option(takes.text('Why an operation of somebody else is taken over.', { maxLength: 200 }), '<text>'),
  },
  examples: {
    'What it would do': 'ops resume op_00000000000000000000000001 --dry-run',
    "A colleague's, whose machine is gone": 'ops resume op_00000000000000000000000001 --reason "ana is on holiday"',
    'Settle it': 'ops resume op_00000000000000000000000001',
  },
  run: (ctx, { op, resendAbsent = false, reason }) => resumeRows(ctx, op, { resendAbsent, reason }),
  show: shown => shown,
});
