/** A plan as records: the op it will have, and each of its rows as the exact request. Nothing of it is written here. */

import { LIMITS } from '../../contract/limits.ts';
import type { PlannedRequest, Service } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import { cents } from '../../core/money.ts';
import { sameCommandWith } from '../../core/same-command.ts';
import { Secret } from '../../core/secret.ts';
import { MARKER_KEY, rowMarker } from '../execution/marker.ts';
import { type Capability, capabilityOf } from '../idempotency-support.ts';
import type { PlannedRow, Rows, RunPlan } from '../types.ts';
import { attemptKey, newOp } from '../wal/op-id.ts';
import { type ItemRecord, JOURNAL_VERSION, type PlanRecord } from '../wal/records.ts';
import type { JournalDependencies } from './dependencies.ts';
import type { FinishedBefore } from './finished-rows.ts';

/** A plan with the op it will have and the exact requests; nothing of it is written down yet. */
export interface PreparedOp {
  readonly plan: RunPlan;
  readonly op: string;
  readonly items: Iterable<ItemRecord>;
  readonly finishedBefore?: FinishedBefore | undefined;
}

/** The same with its first record. */
export interface PlannedOp {
  readonly plan: RunPlan;
  readonly record: PlanRecord;
  readonly items: Iterable<ItemRecord>;
  /** What the command knew of when it was begun; undefined where it asked no rules. */
  readonly finishedBefore?: FinishedBefore | undefined;
}

const MOST_KEYS = LIMITS.metadataKeys.max;

/**
 * Makes the requests of a plan, once. Throws `usage` for rows that cannot be sent as they are; of a file these were
 * looked at one by one, and its requests are made when they are asked for. With `keyIsSpent` the caller's key is not
 * sent: the service keeps a definite refusal under it, and a correction goes under a key of the op
 * (docs/design/reliability.md, section 3).
 */
export async function prepareOp(
  dependencies: JournalDependencies,
  plan: RunPlan,
  { keyIsSpent = false } = {},
): Promise<PreparedOp> {
  if (plan.rows.length === 0) throw new CliError('internal', { message: 'a run without rows' });
  const op = newOp(dependencies.random);
  const items = itemsOf(await dependencies.service(), keyIsSpent ? { ...plan, key: undefined } : plan, op);
  return { plan, op, items: plan.bulk ? items : [...items] };
}

/** The requests as they would be sent, for dry runs. */
export function requestsOf({ plan, items }: PreparedOp): Rows<PlannedRequest> {
  return {
    length: plan.rows.length,
    *[Symbol.iterator]() {
      for (const { operation, method, path, body, key } of items) {
        yield { operation, method, path, body, idempotencyKey: key };
      }
    },
  };
}

/** Nothing is written by it but what the store needs before its first op. */
export async function planOp(dependencies: JournalDependencies, prepared: PreparedOp): Promise<PlannedOp> {
  const { plan, op, items, finishedBefore } = prepared;
  const { profile, mode, origin } = await dependencies.acting();
  const operations = new Set<PlannedRow['operation']>();
  let total = 0;
  for (const { operation, amount = 0 } of plan.rows) {
    operations.add(operation);
    total = cents(total + amount);
  }
  await dependencies.store.ready();
  const keyPrint = await dependencies.store.keyPrint(mode);
  const capability: Record<string, Capability> = {};
  for (const operation of operations) {
    capability[operation] = await capabilityOf(dependencies, { origin, mode, keyPrint }, operation);
  }
  const record: PlanRecord = {
    t: 'PLAN',
    version: JOURNAL_VERSION,
    op,
    command: plan.command,
    origin,
    profile,
    mode,
    key_print: keyPrint,
    digest: plan.digest,
    rows: plan.rows.length,
    total_cents: total,
    ...(plan.maxTotal !== undefined && { max_total: plan.maxTotal }),
    ...(plan.wallet !== undefined && { wallet: plan.wallet }),
    bulk: plan.bulk,
    marker: plan.marker,
    capability,
    ...(plan.key !== undefined && { given_key: plan.key }),
    ...(plan.markerPrefix !== undefined && { marker_prefix: plan.markerPrefix }),
    ...(plan.phased && { phased: true }),
    at: dependencies.clock.now(),
  };
  return { plan, record, items, finishedBefore };
}

/** Made one by one, each time they are asked for: the same each time. */
function itemsOf(service: Service, plan: RunPlan, op: string): Iterable<ItemRecord> {
  const itemOf = (row: PlannedRow): ItemRecord => {
    const input = row.operation === 'cards.create' && plan.marker ? withMarker(row, op) : row.input;
    if (Object.values(input).some(value => value instanceof Secret)) {
      throw new CliError('internal', { message: `${row.operation} carries a secret and must not be journaled` });
    }
    const own = attemptKey(op, { row: row.row, chain: row.keyChain }, 1);
    // The name of a run of many is no key of its rows.
    const key = (plan.bulk ? undefined : plan.key) ?? own;
    const planned = service.plan(row.operation, input as never, { key, body: row.body });
    return {
      t: 'ITEM',
      row: row.row,
      attempt: 1,
      operation: row.operation,
      key: planned.idempotencyKey,
      method: planned.method,
      path: planned.path,
      body: planned.body,
      input,
      ...(row.amount !== undefined && { amount: row.amount }),
      ...(row.aim !== undefined && { aim: row.aim }),
      ...(row.cardId !== undefined && { card: row.cardId }),
      ...(row.label !== undefined && { label: row.label }),
      ...(row.intent !== undefined && { intent: row.intent }),
      ...(row.asked && { asked: row.asked }),
      ...(row.keyChain !== undefined && { chain: row.keyChain }),
      ...(row.marker !== undefined && { marker: row.marker }),
      ...(row.phase !== undefined && { phase: row.phase }),
      ...(row.needs !== undefined && { needs: row.needs }),
    };
  };
  return {
    *[Symbol.iterator]() {
      for (const row of plan.rows) yield itemOf(row);
    },
  };
}

function withMarker({ row, input, marker }: PlannedRow, op: string): Readonly<Record<string, unknown>> {
  const metadata = (input['metadata'] ?? {}) as Readonly<Record<string, unknown>>;
  const refuse = (why: string) =>
    new CliError('usage', { message: why, hint: sameCommandWith('--no-marker'), outcome: 'not_sent' });
  if (Object.hasOwn(metadata, MARKER_KEY)) {
    throw refuse(`the metadata key ${MARKER_KEY} is taken: it marks which operation made a card`);
  }
  if (Object.keys(metadata).length >= MOST_KEYS) {
    throw refuse(
      `${MOST_KEYS} metadata keys are the limit (§8), and one is needed to find the card again if its answer is lost`,
    );
  }
  return { ...input, metadata: { ...metadata, [MARKER_KEY]: rowMarker(op, { row, marker }) } };
}
