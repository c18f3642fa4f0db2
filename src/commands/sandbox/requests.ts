import { columnsOf } from '../../cli/columns.ts';
import { PAGING_FLAGS, pagedListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { integer } from '../../contract/field.ts';
import { LOGGED_REQUEST } from '../../contract/sandbox/faults.ts';
import { CliError } from '../../core/errors.ts';
import { runAdmin } from './simulate/run-admin.ts';

const COLUMNS = columnsOf(LOGGED_REQUEST, {
  request_id: { title: 'REQUEST', priority: 2, kind: 'id' },
  at: { title: 'AGE', priority: 4 },
  operation: { priority: 1 },
  status: { priority: 1 },
  error: { priority: 2 },
  fault: { priority: 2 },
  card_id: { title: 'CARD', priority: 3 },
  replayed: { priority: 4 },
  idempotency_key: { title: 'KEY', priority: 5, kind: 'id' },
  path: { priority: 6, wideOnly: true },
});

/** Lists what was asked of the service, without secrets; `--expect` makes a check of it. */
export const sandboxRequests = command({
  path: 'sandbox requests',
  summary: 'List the requests that the sandbox received, newest first',
  about: [
    'Keeps the newest 1,000, without keys, codes and card numbers. Requests with an unknown route or a wrong key are not included.',
    '--expect compares the number of matches, and fails with 15 if it is different.',
  ],
  operation: 'requests',
  ends: { check_failed: 'There are more or fewer requests than --expect.' },
  flags: {
    operation: 'query.operation',
    since: 'query.since',
    key: 'query.idempotency_key',
    card: 'query.card_id',
    status: 'query.status',
    page: 'query.page',
    perPage: 'query.per_page',
    expect: option(integer({ doc: 'How many there must be.', basis: OURS, min: 0 })),
    ...PAGING_FLAGS,
  },
  examples: [
    { does: 'The newest', run: 'sandbox requests' },
    { does: 'Nothing was terminated', run: 'sandbox requests --operation cards.terminate --expect 0' },
  ],
  async run(ctx, { operation, since, key, card, status, page, perPage, expect, all, limit }) {
    const match = { operation, since, idempotency_key: key, card_id: card, status };
    const verdict = expect === undefined ? undefined : await verified(ctx, match, expect);
    const admin = await ctx.sandbox();
    const pages = admin.pages('requests', { ...match, page, per_page: perPage });
    return {
      listing: pagedListing(pages, {
        noun: 'request',
        all,
        limit,
        sorted: ctx.sorted && page === undefined,
        numbered: page !== undefined,
        perPage,
      }),
      verdict,
    };
  },
  show: ({ listing, verdict }) => ({
    listing,
    noun: 'request',
    idField: 'request_id',
    columns: COLUMNS,
    failure:
      verdict === undefined || verdict.ok
        ? undefined
        : new CliError('check_failed', {
            message: `${verdict.count} ${verdict.count === 1 ? 'request fits' : 'requests fit'}, ${verdict.expected} expected`,
            hint: 'cardwright sandbox requests',
          }),
  }),
});

/** Members nobody asked about must not be sent. */
function verified(ctx: Parameters<typeof runAdmin>[0], match: object, times: number) {
  const given = Object.fromEntries(Object.entries(match).filter(([, value]) => value !== undefined));
  return runAdmin(ctx, 'requests.verify', { match: given, times });
}
