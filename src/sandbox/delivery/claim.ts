/**
 * Who delivers what next. A claim is a lease in the store: two processes never send one delivery at the same time,
 * and one whose sender died goes again (at least once). One at a time for each subscription, by due time and then in
 * the order of the events: order is kept as long as nothing fails, and a retry holds nothing else up.
 */
import { HEADERS } from '../../contract/envelopes.ts';
import { sign } from '../../contract/signature/signature.ts';
import { Secret } from '../../core/secret.ts';
import { sandboxNow } from '../clock/clock.ts';
import {
  type DeliveryRow,
  deliveryBody,
  freeDelivery,
  headOf,
  insertAttempt,
  overtake,
  sendingNow,
  takeDelivery,
} from '../store/deliveries.ts';
import type { Sql } from '../store/sql.ts';
import { activeWebhooks, type WebhookRow } from '../store/webhooks.ts';
import { meddle } from './delivery-faults.ts';
import type { DeliveryParts } from './parts.ts';
import type { WebhookRequest } from './send.ts';

export interface Claimed {
  readonly row: DeliveryRow;
  /** Number of this attempt, from 1. */
  readonly attempt: number;
  readonly token: string;
  readonly letter: WebhookRequest;
  /** The secrets of the subscription, to be taken out of what is kept. */
  readonly secrets: readonly Secret[];
}

export interface ClaimResult {
  readonly claimed?: Claimed;
  /** Something due is being sent by somebody, or waits to be overtaken: worth another look soon. */
  readonly isPending: boolean;
}

/** Claims the next delivery that is due at or before `upTo` and now, in the open transaction. */
export async function claimNext(sql: Sql, parts: DeliveryParts, upTo: number): Promise<ClaimResult> {
  const { account, clock, isGone } = parts;
  const real = clock.now();
  const now = await sandboxNow(sql, account, real);
  const busy = new Set<string>();
  for (const { id, webhook_id, lease_owner, lease_until } of await sendingNow(sql, account)) {
    if (lease_until > real && !isGone(lease_owner)) busy.add(webhook_id);
    else await freeDelivery(sql, account, id);
  }
  const options = { now, real, upTo: Math.min(upTo, now) };
  let isPending = busy.size > 0;
  let first: { row: DeliveryRow; webhook: WebhookRow } | undefined;
  for (const webhook of await activeWebhooks(sql, account)) {
    if (busy.has(webhook.id)) continue;
    const { row, isHeld } = await headFor(sql, parts, { ...options, webhook: webhook.id });
    isPending ||= isHeld;
    if (row !== undefined && (first === undefined || isBefore(row, first.row))) first = { row, webhook };
  }
  if (first === undefined) return { isPending };
  return { claimed: await take(sql, parts, { ...first, now, real }), isPending: true };
}

interface HeadWish {
  readonly webhook: string;
  readonly now: number;
  readonly real: number;
  readonly upTo: number;
}

/** The first of a subscription that no fault keeps back. */
async function headFor(sql: Sql, parts: DeliveryParts, options: HeadWish) {
  for (;;) {
    const row = await headOf(sql, parts.account, options);
    if (row === undefined) break;
    if (row.faults_asked === 1 || !(await meddle(sql, parts, { row, ...options }))) return { row, isHeld: false };
  }
  // Those that are to be overtaken go all the same when nobody comes for a while.
  const held = await headOf(sql, parts.account, { ...options, real: Number.MAX_SAFE_INTEGER });
  return { row: undefined, isHeld: held !== undefined };
}

function isBefore(one: DeliveryRow, other: DeliveryRow): boolean {
  return one.due_at < other.due_at || (one.due_at === other.due_at && one.position < other.position);
}

interface Taking {
  readonly row: DeliveryRow;
  readonly webhook: WebhookRow;
  readonly now: number;
  readonly real: number;
}

async function take(sql: Sql, parts: DeliveryParts, { row, webhook, now, real }: Taking): Promise<Claimed> {
  const { account, owner, random, limits } = parts;
  const token = Buffer.from(random.bytes(16)).toString('hex');
  await takeDelivery(sql, account, { id: row.id, lease: { owner, token, until: real + limits.lease } });
  await overtake(sql, account, row);
  const written = await deliveryBody(sql, account, row.id);
  const body = row.edited === 1 ? written : spoken(written, parts);
  const attempt = row.attempt + 1;
  const secrets = secretsOf(webhook, now);
  const headers = headersFor(parts, { row, attempt, body, now, signing: signingFor(row, webhook, secrets) });
  await insertAttempt(sql, account, {
    delivery_id: row.id,
    number: attempt,
    at: now,
    request_headers: JSON.stringify(headers),
    // What stands there when the sender does not live to write what came of it.
    error: 'the sender ended before it knew what came of this attempt',
  });
  return { row, attempt, token, letter: { url: webhook.url, headers, body }, secrets };
}

/** The bytes that go out: those of the event, or what a dialect makes of them, the same on every attempt. */
function spoken(body: string, { activeDialect }: DeliveryParts): string {
  const payload = activeDialect?.dialect.payload;
  return payload === undefined ? body : JSON.stringify(payload(JSON.parse(body) as Readonly<Record<string, unknown>>));
}

/** The secret, and the one before it while both are valid. */
function secretsOf({ secret, former_secret, former_until }: WebhookRow, now: number): readonly Secret[] {
  const former = former_secret !== null && former_until !== null && former_until > now ? [former_secret] : [];
  return [secret, ...former].map(text => new Secret(text));
}

/** Signs in place of a secret of the subscription. */
const WRONG = new Secret('not the secret of any subscription');

/** What signs this delivery: usually every secret that is valid, else what was asked for. */
function signingFor(
  { sign }: DeliveryRow,
  { former_secret: former }: WebhookRow,
  secrets: readonly Secret[],
): readonly Secret[] {
  switch (sign) {
    case 'wrong':
      return [WRONG];
    case 'former':
      return former === null ? [WRONG] : [new Secret(former)];
    case 'none':
      return [];
    default:
      return secrets;
  }
}

interface Addressed {
  readonly row: DeliveryRow;
  readonly attempt: number;
  readonly body: string;
  readonly now: number;
  /** Each of them signs; without any there is no signature. */
  readonly signing: readonly Secret[];
}

/** Headers of. After a rotation the signatures of both secrets, separated by a comma. */
function headersFor(
  { version, activeDialect }: DeliveryParts,
  { row, attempt, body, now, signing }: Addressed,
): Readonly<Record<string, string>> {
  const bytes = Buffer.from(body);
  const signature = activeDialect?.dialect.signature ?? { header: HEADERS.webhook_signature.name, prefix: '' };
  return {
    'Content-Type': 'application/json',
    'Content-Length': String(bytes.length),
    'User-Agent': `cardwright-sandbox/${version}`,
    ...(signing.length > 0 && {
      [signature.header]: signing.map(secret => signature.prefix + sign(bytes, secret)).join(','),
    }),
    [HEADERS.webhook_id.name]: row.event_id,
    [HEADERS.webhook_attempt.name]: String(attempt),
    [HEADERS.webhook_timestamp.name]: String(Math.floor(now / 1000)),
  };
}
