/** Whether a request for approval says what its rows would do: who has asked has written both. */

import type { Operation } from '../../contract/operation.ts';
import type { Overrides } from '../../contract/overrides.ts';
import { CALLS } from '../../contract/raw.ts';
import { readRequest } from '../../contract/read-request.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, dollars, sumCents } from '../../core/money.ts';
import { otherOperation } from '../wal/command-words.ts';
import { MOST_TARGETS, oneSpelling } from './payload.ts';
import type { CheckedRequest } from './request-file.ts';

/** Throws `check_failed` for a request whose facts are not those of its rows. */
export function refuseUntrue(request: CheckedRequest, overrides: Overrides): void {
  const flaw = requestFlaw(request, overrides);
  if (flaw === undefined) return;
  const { payload } = request;
  throw new CliError('check_failed', {
    message: `${payload.id} does not say what its rows would do: ${flaw}; do not approve it`,
    notes: ['cardwright writes no such request. Where the service has other names, use the profile that knows them.'],
    reason: 'approval_plan',
    hint: 'cardwright approvals list',
    outcome: 'not_sent',
    op: payload.op,
  });
}

function requestFlaw({ payload, items }: CheckedRequest, overrides: Overrides): string | undefined {
  const amounts: Cents[] = [];
  const targets = new Map(payload.targets.map(target => [target.row, target]));
  let isIrreversible = false;
  if (targets.size !== Math.min(items.length, MOST_TARGETS)) return `it names ${targets.size} of ${items.length} rows`;
  for (const [index, item] of items.entries()) {
    const { row, operation } = item;
    const asked = readRequest(item, overrides);
    if ((asked?.operation ?? 'api.write') !== operation) return `the request of row ${row} is no ${operation}`;
    const { amount, card_id: card, bin_id: bin } = asked?.input ?? {};
    const sum = centsIn(amount ?? 0);
    if (sum === undefined) return `row ${row} asks for no amount in cents`;
    amounts.push(sum);
    isIrreversible ||= (CALLS as Readonly<Record<string, Operation>>)[operation]?.effect === 'irreversible';
    const target = targets.get(row);
    if (index < MOST_TARGETS && !(target && isTarget(target, { card, bin }))) return `row ${row} is about another card`;
  }
  const other = otherOperation(
    payload.command,
    items.map(({ operation }) => operation),
  );
  if (other !== undefined) return `its command is ${payload.command}, and it does ${other}`;
  return amountsFlaw(payload, amounts) ?? (isIrreversible === payload.irreversible ? undefined : UNDOING);
}

const UNDOING = 'whether it can be undone';

/** Undefined for a part of a cent, and for what is no number. */
function centsIn(amount: unknown): Cents | undefined {
  return typeof amount === 'number' && Number.isSafeInteger(amount) ? cents(amount) : undefined;
}

type Named = Pick<CheckedRequest['payload']['targets'][number], 'card_id' | 'bin_id'>;

function isTarget(target: Named, { card, bin }: { readonly card: unknown; readonly bin: unknown }): boolean {
  const isSame = (named: string | undefined, asked: unknown) => named === (asked && oneSpelling(String(asked)));
  return isSame(target.card_id, card) && (target.bin_id === undefined || isSame(target.bin_id, bin));
}

function amountsFlaw(
  { cents: sum, largest_cents: largest }: CheckedRequest['payload'],
  amounts: readonly Cents[],
): string | undefined {
  const total = sumCents(amounts);
  if (sum !== total) return `it says ${dollars(cents(sum))}, and they ask for ${dollars(total)}`;
  const most = amounts.reduce((most, each) => (each > most ? each : most), cents(0));
  return largest === most ? undefined : `it says ${dollars(cents(largest))} at most, and one asks for ${dollars(most)}`;
}
