/** What is asked of approvers for a plan: its facts, the cards it is about, and the digest of its requests. */

import type { Reader } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import { isoSeconds } from '../core/iso-time.ts';
import { toCents } from '../core/money.ts';
import {
  type ApprovalPayload,
  type ApprovalTarget,
  type CardBefore,
  MOST_TARGETS,
  oneSpelling,
  planDigest,
} from '../journal/approvals/payload.ts';
import { requestIdOf } from '../journal/approvals/request-id.ts';
import { type ApprovalRule, judgedRows } from '../journal/approvals/rule.ts';
import type { UnwrittenPlan } from '../journal/runs/approval-gate.ts';
import type { ItemRecord } from '../journal/wal/records.ts';
import type { Requester } from './approval-parts.ts';

export interface Asking {
  readonly planned: UnwrittenPlan;
  readonly rule: ApprovalRule;
  /** Why it is held, in words. */
  readonly why: string;
  readonly requester: Requester;
  readonly journal: string;
  /** Account of a shared journal, or the profile. */
  readonly account: string;
  /** When it is asked, ms UTC by the clock that it expires by. */
  readonly now: number;
  readonly reader: Reader;
}

/** Reads the cards that are named; what the service does not know is left out. */
export async function requestPayload({
  planned,
  rule,
  why,
  requester,
  journal,
  account,
  now,
  reader,
}: Asking): Promise<ApprovalPayload> {
  const { record, items, plan } = planned;
  const named: ItemRecord[] = [];
  let largest = 0;
  for (const item of items) {
    largest = Math.max(largest, item.amount ?? 0);
    if (named.length < MOST_TARGETS) named.push(item);
  }
  const { irreversible } = judgedRows(plan.rows);
  const [first] = named;
  const single = irreversible && record.rows === 1 ? first?.card : undefined;
  return {
    type: 'cardwright-approval',
    v: 1,
    id: requestIdOf(record.op),
    journal,
    account,
    origin: record.origin,
    mode: record.mode,
    op: record.op,
    ...(first?.intent !== undefined && record.rows === 1 && { intent: first.intent }),
    command: record.command,
    rows: record.rows,
    cents: record.total_cents,
    largest_cents: largest,
    irreversible,
    targets: await Promise.all(named.map(item => targetOf(item, reader))),
    plan_sha256: planDigest(items),
    ...(single !== undefined && { before: await cardBefore(single, reader) }),
    rule: oneSpelling(why),
    needed: rule.needed,
    requested_by: oneSpelling(requester.requested_by),
    ...(requester.requester_key !== undefined && { requester_key: requester.requester_key }),
    requested_at: isoSeconds(now),
    expires_at: isoSeconds(now + rule.standsMs),
  };
}

/** Status and balance of a card, which an irreversible change must still find as they were. */
export async function cardBefore(card: string, reader: Reader): Promise<CardBefore | undefined> {
  const found = await readCard(card, reader);
  return found && { status: found.status, balance_cents: toCents(found.balance) };
}

async function targetOf({ row, card, label, input }: ItemRecord, reader: Reader): Promise<ApprovalTarget> {
  if (card === undefined) {
    const { bin_id: bin } = input;
    return {
      row,
      ...(typeof bin === 'string' && { bin_id: oneSpelling(bin) }),
      ...(label !== undefined && { label: oneSpelling(label) }),
    };
  }
  const found = await readCard(card, reader);
  const shown = found?.label ?? undefined;
  return {
    row,
    card_id: oneSpelling(card),
    ...(found !== undefined && { last4: found.last4 }),
    ...(shown !== undefined && { label: oneSpelling(shown) }),
  };
}

async function readCard(card: string, reader: Reader) {
  return reader.read('cards.get', { card_id: card }).catch((thrown: unknown) => {
    if (thrown instanceof CliError && thrown.kind === 'not_found') return undefined;
    throw thrown;
  });
}
