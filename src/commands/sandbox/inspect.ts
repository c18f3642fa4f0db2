/** What happened in the sandbox and why. Looking leaves no trace. */

import { columnsOf, PAGING_FLAGS } from '../../cli/listing.ts';
import { option, optionalArgument, takes } from '../../cli/parsing/flag.ts';
import { withoutCode } from '../../contract/events.ts';
import type { ItemOf, ResultOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin.ts';
import { LOGGED_REQUEST } from '../../contract/sandbox/faults.ts';
import { CHECK, REQUEST_PAIR } from '../../contract/sandbox/inspector.ts';
import { INVARIANT } from '../../contract/sandbox/state.ts';
import { CliError, usage } from '../../core/errors.ts';
import { lineBlock, tableBlock } from '../../terminal/view.ts';
import { checkEvents } from '../webhooks/subscriptions.ts';
import { adminCommand, adminListing, command, runAdmin } from './admin.ts';

type Checked = ResultOf<AdminOperations['ledger.check']>;

const INVARIANT_COLUMNS = columnsOf(INVARIANT, 'id holds says:2', { id: 'INVARIANT', says: { shrink: true } });

function checkInWords({ ok, invariants }: Checked): string {
  if (ok) return `The books are whole: ${invariants.length} invariants hold.`;
  const broken = invariants.filter(({ holds }) => holds === false).map(({ id }) => id);
  return broken.length === 0 ? 'The file is damaged: nothing was asked of the books.' : `Broken: ${broken.join(', ')}`;
}

export const checkSandbox = adminCommand({
  path: 'sandbox check',
  summary: 'Check every invariant of the ledger, one by one',
  about: 'Looks through files, ledger, events and stored answers, whatever their size.',
  operation: 'ledger.check',
  ends: { check_failed: 'An invariant does not hold, or the file is damaged.' },
  examples: {
    'All of them': 'sandbox check',
    'Their codes': "sandbox check --jq '.invariants[].id'",
  },
  columns: ['ok faults', { ok: 'WHOLE' }],
  noun: 'ledger',
  idField: 'ok',
  show: checked => ({
    rows: { columns: INVARIANT_COLUMNS, rows: checked.invariants },
    blocks: [tableBlock(INVARIANT_COLUMNS, checked.invariants), lineBlock(checkInWords(checked))],
    failure: checked.ok
      ? undefined
      : new CliError('check_failed', {
          message: `the ledger does not add up: ${checked.faults.join('; ')}`,
          hint: 'cardwright sandbox reset',
        }),
  }),
});

type Event = ItemOf<AdminOperations['events']>;
type Why = ResultOf<AdminOperations['transactions.why']>;

const STEP_COLUMNS = columnsOf(CHECK, 'check result left:2 right:2', {
  left: { title: 'COMPARED', shrink: true },
  right: { title: 'WITH', shrink: true },
});

/** What stands above the checks. */
function declineInWords({ outcome, decline_reason: reason, checks }: Why): string {
  if (outcome === 'approved') return 'Approved: every check held.';
  if (outcome === 'posted') return 'Posted without asking: settlements and refunds are never declined.';
  const failed = checks.find(({ result }) => result === 'fails');
  if (failed === undefined) return `Declined: ${reason}, forced by the simulation; no check was asked.`;
  if (failed.left == null) return `Declined: ${reason}. The values it was judged by were not kept.`;
  return `Declined: ${reason}: ${failed.left} against ${failed.right ?? ''}`;
}

export const whyDeclined = adminCommand({
  path: 'sandbox why',
  about: [
    'The checks stand in the order in which they are asked; the first that fails declines the purchase, and the rest are not asked. The values are those of that moment.',
    'Looking changes nothing in the sandbox.',
  ],
  operation: 'transactions.why',
  examples: { 'In words': 'sandbox why txn_1' },
  columns: ['transaction outcome decline_reason', { decline_reason: 'REASON' }],
  noun: 'transaction',
  idField: 'transaction',
  show: why => ({
    rows: { columns: STEP_COLUMNS, rows: why.checks },
    blocks: [lineBlock(declineInWords(why)), tableBlock(STEP_COLUMNS, why.checks)],
  }),
});

export const cardTimeline = adminCommand({
  path: 'sandbox timeline',
  summary: 'Show what happened to a card: requests, money, challenges, events, deliveries',
  about: [
    'Newest first. Each kind is in the order of its own numbers, because the clock of the sandbox may stand or go back; at one time kinds are in the order of --kinds.',
    'Of each kind the newest 10,000 are looked at; of requests, those that are still in the log. Looking changes nothing in the sandbox.',
  ],
  operation: 'cards.timeline',
  examples: {
    'The newest': 'sandbox timeline card_1',
    'Money alone, all of it': 'sandbox timeline card_1 --kinds transaction,entry --all',
  },
  noun: 'item',
  columns: [
    'at:2 kind number:4 text amount:3 id:5',
    { at: { kind: 'text' }, number: 'NO', text: { title: 'WHAT', shrink: true }, id: { kind: 'id' } },
  ],
});

export const sandboxEvents = adminCommand({
  path: 'sandbox events',
  summary: 'List the events that the sandbox recorded, newest first',
  about: [
    'With --after they come in their order, from the one behind that number on. A one-time code in a body is replaced; 3ds list shows it.',
    'Looking changes nothing in the sandbox.',
  ],
  operation: 'events',
  named: { order: null },
  examples: {
    'The newest': 'sandbox events',
    'What came after number 2, in its order': 'sandbox events --after 2 --all --json',
  },
  check({ type, after }) {
    if (type !== undefined) checkEvents([type]);
    return { order: after === undefined ? 'desc' : 'asc' };
  },
  as: (event: Event) => ({ ...event, body: withoutCode(event.type, event.body) }),
  noun: 'event',
  columns: [
    'seq type created_at:2 id:3 body:6',
    { seq: 'NO', created_at: { title: 'AT', kind: 'text' }, id: 'EVENT ID', body: { shrink: true } },
  ],
});

const REQUEST_COLUMNS = columnsOf(
  LOGGED_REQUEST,
  'request_id:2 at:4 operation status error:2 fault:2 card_id:3 replayed:4 idempotency_key:5 path:6+ query:6+',
  { request_id: { kind: 'id' }, at: 'WHEN', idempotency_key: { title: 'KEY', kind: 'id' } },
);

const REQUEST_PAIR_COLUMNS = [
  ...REQUEST_COLUMNS,
  ...columnsOf(REQUEST_PAIR, 'method:2 body:2 answer:2 on_the_wire:2 headers:4 key_last4:4 took_ms:4 not_kept:4', {
    body: { kind: 'text' },
    not_kept: { screenOnly: true, unlessEmpty: true },
    key_last4: 'API KEY',
    took_ms: 'MS',
  }),
];

export const sandboxRequests = command({
  path: 'sandbox requests',
  summary: 'List the requests that the sandbox received, or show one of them',
  about: [
    'Newest first. Keeps the newest 1,000, without keys, codes and card numbers. Requests with an unknown route or a wrong key are not included.',
    'With a request: what was sent, what was answered, and what of it reached the client. Answers are kept of requests that change something and of errors.',
    '--expect compares the number of matches, and fails with 15 if it is different.',
  ],
  operation: 'requests',
  answers: [{ list: LOGGED_REQUEST }, { one: REQUEST_PAIR }],
  ends: {
    check_failed: 'There are more or fewer requests than --expect.',
    not_found: 'There is no such request among those that are kept.',
  },
  args: {
    request: optionalArgument(
      takes.text('Request to show with its answer; all of them when left out.', { maxLength: 64 }),
    ),
  },
  flags: {
    operation: 'query.operation',
    since: 'query.since',
    key: 'query.idempotency_key',
    card: 'query.card_id',
    status: 'query.status',
    page: 'query.page',
    perPage: 'query.per_page',
    expect: option(takes.integer('How many there must be.', { min: 0 })),
    ...PAGING_FLAGS,
  },
  examples: {
    'The newest': 'sandbox requests',
    'Nothing was terminated': 'sandbox requests --operation cards.terminate --expect 0',
    'One of them with its answer': 'sandbox requests req_1',
  },
  async run(ctx, { request, ...wanted }) {
    if (request !== undefined) {
      const given = Object.values(wanted).some(value => value !== undefined);
      if (given) throw usage('sandbox requests takes a request, or flags that choose some of them');
      return { pair: await runAdmin(ctx, 'requests.get', { request_id: request }) };
    }
    const { operation, since, key, card, status, expect, ...asked } = wanted;
    const match = { operation, since, idempotency_key: key, card_id: card, status };
    const fitting = expect === undefined ? undefined : await runAdmin(ctx, 'requests', { ...match, per_page: 1 });
    return {
      listing: await adminListing(ctx, ['requests', 'request'], match, asked),
      count: fitting?.page.total,
      expected: expect,
    };
  },
  noun: 'request',
  idField: 'request_id',
  columns: REQUEST_COLUMNS,
  show(result) {
    if ('pair' in result) return { data: result.pair, columns: REQUEST_PAIR_COLUMNS };
    const { listing, count, expected } = result;
    const failure = new CliError('check_failed', {
      message: `${count} ${count === 1 ? 'request fits' : 'requests fit'}, ${expected} expected`,
      hint: 'cardwright sandbox requests',
    });
    return { listing, ...(count !== expected && { failure }) };
  },
});
