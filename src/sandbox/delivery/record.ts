/**
 * What an attempt leads to (docs/design/sandbox.md, section 9): delivered, tried again, failed, or the end of a
 * subscription.
 */
import { EVENTS, type EventName } from '../../contract/events.ts';
import { DELIVERY_GIVEN_UP } from '../../contract/spans.ts';
import { seedOf } from '../calls/deterministic-ids.ts';
import { sandboxNow } from '../clock/clock.ts';
import { cancelQueued, type DeliveryState, endAttempt, finishAttempt } from '../store/deliveries.ts';
import type { Sql } from '../store/sql.ts';
import { disableWebhook, setFailing, type WebhookRow, webhookById } from '../store/webhooks.ts';
import type { Claimed } from './claim.ts';
import type { DeliveryParts } from './parts.ts';
import { retryWait } from './schedule.ts';
import type { Reply } from './send.ts';

export interface Came {
  readonly reply: Reply;
  /** Real ms. */
  readonly duration: number;
  /** The sender stopped before an answer came: the receiver is not to blame. */
  readonly isCutOff: boolean;
}

const GONE = 410;
/** Kept of an answer. */
const MOST_KEPT = 4_096;

/** Writes down what came of a claimed delivery; nothing when the lease is not ours any more. */
export async function record(sql: Sql, parts: DeliveryParts, claimed: Claimed, came: Came): Promise<void> {
  const { account, clock } = parts;
  const { row, token, attempt } = claimed;
  const now = await sandboxNow(sql, account, clock.now());
  const webhook = await webhookById(sql, account, row.webhook_id);
  const next = await nextState(sql, { claimed, came, now, webhook });
  if ((await endAttempt(sql, account, { id: row.id, token, ...next })) === 0) return;
  await finishAttempt(sql, account, { delivery_id: row.id, number: attempt, ...kept(claimed, came) });
  if (webhook !== undefined && !came.isCutOff) await checkPurchase(sql, account, { webhook, claimed, came, now });
}

interface Outcome {
  readonly claimed: Claimed;
  readonly came: Came;
  readonly now: number;
  readonly webhook: WebhookRow | undefined;
}

async function nextState(
  sql: Sql,
  { claimed, came, now, webhook }: Outcome,
): Promise<{ state: DeliveryState; due_at: number }> {
  const { row, attempt } = claimed;
  const { due_at } = row;
  if (isTaken(came)) return { state: 'delivered', due_at };
  if (came.reply.status === GONE) return { state: 'failed', due_at };
  const wait = retryWait(attempt, { seed: await seedOf(sql), delivery: row.id });
  if (wait === undefined) return { state: 'failed', due_at };
  if (webhook?.status !== 'active') return { state: 'cancelled', due_at };
  return { state: 'queued', due_at: came.isCutOff ? due_at : now + wait };
}

function isTaken({ reply: { status = 0 } }: Came): boolean {
  return status >= 200 && status <= 299;
}

/** Whether a subscription goes on: 410 ends it at once, five days of nothing but failures too. */
async function checkPurchase(
  sql: Sql,
  account: string,
  { webhook, claimed, came, now }: Outcome & { readonly webhook: WebhookRow },
): Promise<void> {
  const { id, failing_since, status, url } = webhook;
  // What an address said says nothing about the one that took its place meanwhile.
  if (status !== 'active' || url !== claimed.letter.url) return;
  if (isTaken(came)) {
    if (failing_since !== null) await setFailing(sql, account, { id, since: null });
    return;
  }
  const since = failing_since ?? now;
  if (came.reply.status === GONE || now - since >= DELIVERY_GIVEN_UP) {
    await disableWebhook(sql, account, { id, now });
    await cancelQueued(sql, account, id);
  } else if (failing_since === null) await setFailing(sql, account, { id, since });
}

/** What is kept of an answer, without any secret a receiver sent back. */
function kept({ row, letter, secrets }: Claimed, { reply, duration }: Came) {
  const codes = row.edited === 1 ? [] : secretValues(row.event_type, letter.body);
  const hidden = [...secrets.map(secret => secret.expose()), ...codes];
  const clean = (text: string) =>
    hidden.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text).replaceAll('\0', '\ufffd');
  const { address = null, status = null, headers, body, error = null } = reply;
  return {
    address,
    status,
    answer_headers: headers === undefined ? null : clean(JSON.stringify(withoutCookies(headers))),
    answer_body: body === undefined ? null : firstBytes(clean(body)),
    duration: Math.round(duration),
    error,
  };
}

function withoutCookies(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, /cookie/i.test(name) ? '[redacted]' : value]),
  );
}

/** Values of the payload that are never kept outside of it: one-time codes. */
function secretValues(event: EventName, body: string): readonly string[] {
  const { data } = JSON.parse(body) as { readonly data: Readonly<Record<string, unknown>> };
  return Object.entries(EVENTS[event].data).flatMap(([name, field]) => {
    const value = data[field.wire ?? name];
    return field.secret && typeof value === 'string' && value !== '' ? [value] : [];
  });
}

/** Cut between characters: half of one would not be text. */
function firstBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MOST_KEPT) return text;
  return new TextDecoder('utf-8').decode(bytes.subarray(0, MOST_KEPT), { stream: true });
}
