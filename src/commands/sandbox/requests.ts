import type { Shown } from '../../cli/context.ts';
import { columnsOf, PAGING_FLAGS } from '../../cli/listing.ts';
import { option, optionalArgument, takes } from '../../cli/parsing/flag.ts';
import type { ResultOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin.ts';
import { LOGGED_REQUEST } from '../../contract/sandbox/faults.ts';
import { REQUEST_PAIR } from '../../contract/sandbox/inspector.ts';
import { CliError, usage } from '../../core/errors.ts';
import { type Listing, pairsBlock } from '../../terminal/view.ts';
import { adminListing, command, runAdmin } from './admin.ts';

const COLUMNS = columnsOf(
  LOGGED_REQUEST,
  'request_id:2 at:4 operation status error:2 fault:2 card_id:3 replayed:4 idempotency_key:5 path:6+ query:6+',
  { request_id: { kind: 'id' }, at: 'WHEN', idempotency_key: { title: 'KEY', kind: 'id' } },
);

const PAIR_COLUMNS = [
  ...COLUMNS,
  ...columnsOf(REQUEST_PAIR, 'method:2 body:2 answer:2 on_the_wire:2 headers:4 key_last4:4 took_ms:4', {
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
  examples: [
    { does: 'The newest', run: 'sandbox requests' },
    { does: 'Nothing was terminated', run: 'sandbox requests --operation cards.terminate --expect 0' },
    { does: 'One of them with its answer', run: 'sandbox requests req_1' },
  ],
  async run(ctx, { request, ...wanted }): Promise<Result> {
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
  show(result): Shown {
    if ('pair' in result) return showPair(result.pair);
    const { listing, count, expected } = result;
    return {
      listing,
      noun: 'request',
      idField: 'request_id',
      columns: COLUMNS,
      failure:
        count === expected
          ? undefined
          : new CliError('check_failed', {
              message: `${count} ${count === 1 ? 'request fits' : 'requests fit'}, ${expected} expected`,
              hint: 'cardwright sandbox requests',
            }),
    };
  },
});

type Result = { readonly pair: Pair } | Listed;
type Pair = ResultOf<AdminOperations['requests.get']>;
interface Listed {
  readonly listing: Listing;
  readonly count: number | undefined;
  readonly expected: number | undefined;
}

/** What was sent, or why it is not there. */
function bodyText({ body, body_bytes: bytes, not_kept: parts }: Pair): string {
  if (body != null) return JSON.stringify(body);
  if (parts.includes('body')) return `${bytes ?? 'some'} bytes, not kept`;
  return bytes == null || bytes === 0 ? '-' : '{}';
}

/** Whoever sends the request again must know what of it stands here otherwise than it was sent. */
function notKept({ not_kept: parts }: Pair): string {
  return parts.length === 0 ? 'nothing: this is what was sent' : parts.join(', ');
}

function showPair(pair: Pair): Shown {
  const {
    request_id,
    at,
    method,
    path,
    query,
    status,
    answer,
    headers = {},
    idempotency_key,
    key_last4,
    took_ms,
  } = pair;
  const notes = [pair.error, pair.replayed ? 'replayed' : null].filter(note => note != null);
  const pairs: readonly (readonly [string, string])[] = [
    ['Request', request_id],
    ['At', at],
    ['Asked', `${method} ${path}${query == null ? '' : `?${query}`}`],
    ['Operation', pair.operation],
    ['Idempotency key', idempotency_key ?? '-'],
    ['API key', key_last4 == null ? '-' : `…${key_last4}`],
    ...Object.entries(headers ?? {}).map(([name, value]) => [name, value] as const),
    ['Body', bodyText(pair)],
    ['Not kept', notKept(pair)],
    ['Status', [String(status), ...notes].join(', ')],
    ['Answer', answer ?? 'not kept: it changed nothing'],
    ['On the wire', pair.on_the_wire],
    ['Took', took_ms == null ? '-' : `${took_ms} ms`],
  ];
  return {
    data: pair,
    noun: 'request',
    idField: 'request_id',
    columns: PAIR_COLUMNS,
    blocks: [pairsBlock(pairs)],
  };
}
