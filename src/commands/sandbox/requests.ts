import { columnsOf, PAGING_FLAGS } from '../../cli/listing.ts';
import { option, optionalArgument, takes } from '../../cli/parsing/flag.ts';
import { LOGGED_REQUEST } from '../../contract/sandbox/faults.ts';
import { REQUEST_PAIR } from '../../contract/sandbox/inspector.ts';
import { CliError, usage } from '../../core/errors.ts';
import { adminListing, command, runAdmin } from './admin.ts';

const COLUMNS = columnsOf(
  LOGGED_REQUEST,
  'request_id:2 at:4 operation status error:2 fault:2 card_id:3 replayed:4 idempotency_key:5 path:6+ query:6+',
  { request_id: { kind: 'id' }, at: 'WHEN', idempotency_key: { title: 'KEY', kind: 'id' } },
);

const PAIR_COLUMNS = [
  ...COLUMNS,
  ...columnsOf(REQUEST_PAIR, 'method:2 body:2 answer:2 on_the_wire:2 headers:4 key_last4:4 took_ms:4 not_kept:4', {
    body: { kind: 'text' },
    not_kept: { screenOnly: true, unlessEmpty: true },
    key_last4: 'API KEY',
    took_ms: 'MS',
  }),
];

const request = optionalArgument(
  takes.text('Request to show with its answer; all of them when left out.', { maxLength: 64 }),
);

export const sandboxRequests = command({
  path: 'sandbox requests',
  summary: 'List the requests that the sandbox received, or show one of them',
  about: [
    'Newest first. Keeps the newest 1,000, without keys, codes and card numbers. Requests with an unknown route or a wrong key are not included.',
    'With a request: what was sent, what was answered, and what of it reached the client. Answers are kept of requests that change something and of errors.',
    '--expect compares the number of matches, and fails with 15 if it is different.',
  ],
  operation: 'requests',
  answers: { either: [{ list: LOGGED_REQUEST }, { one: REQUEST_PAIR }] },
  ends: {
    check_failed: 'There are more or fewer requests than --expect.',
    not_found: 'There is no such request among those that are kept.',
  },
  args: { request },
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
  columns: COLUMNS,
  show(result) {
    if ('pair' in result) return { data: result.pair, columns: PAIR_COLUMNS };
    const { listing, count, expected } = result;
    const failure = new CliError('check_failed', {
      message: `${count} ${count === 1 ? 'request fits' : 'requests fit'}, ${expected} expected`,
      hint: 'cardwright sandbox requests',
    });
    return { listing, ...(count !== expected && { failure }) };
  },
});
