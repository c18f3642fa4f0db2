/**
 * Who delivers what next. A claim is a lease in the store: two processes never send one delivery at the same time,
 * and one whose sender died goes again (at least once). One at a time for each subscription, by due time and then in
 * the order of the events: order is kept as long as nothing fails, and a retry holds nothing else up.
 */
import { HEADERS } from '../../contract/envelopes.ts';
import { EVENTS, type EventName } from '../../contract/events.ts';
import { sign } from '../../contract/signature/signature.ts';
import { DELIVERY_GIVEN_UP } from '../../contract/spans.ts';
import { Secret } from '../../core/secret.ts';
import { deterministicIds, fractionOf, seedOf } from '../calls/deterministic-ids.ts';
import { sandboxNow } from '../clock/clock.ts';
import { enqueue } from '../outbox/outbox.ts';
import {
  activeWebhooks,
  cancelQueued,
  changeQueued,
  type DeliveryRow,
  type DeliveryState,
  deliveryBody,
  disableWebhook,
  endAttempt,
  finishAttempt,
  freeDelivery,
  hasWork,
  headOf,
  overtake,
  sendingNow,
  takeDelivery,
  type WebhookRow,
  webhookById,
} from '../store/deliveries.ts';
import { type Sql, StoreBusy } from '../store/sql.ts';
import type { DeliveryParts } from './parts.ts';
import { post, type Reply, retryWait, type WebhookRequest } from './send.ts';

interface Claimed {
  readonly row: DeliveryRow;
  /** Number of this attempt, from 1. */
  readonly attempt: number;
  readonly token: string;
  readonly letter: WebhookRequest;
  /** The secrets of the subscription, to be taken out of what is kept. */
  readonly secrets: readonly Secret[];
}

interface ClaimResult {
  readonly claimed?: Claimed;
  /** Something due is being sent by somebody, or waits to be overtaken: worth another look soon. */
  readonly isPending: boolean;
}

/** Claims the next delivery that is due at or before `upTo` and now, in the open transaction. */
async function claimNext(sql: Sql, parts: DeliveryParts, upTo: number): Promise<ClaimResult> {
  const { clock, isGone } = parts;
  const real = clock.now();
  const now = await sandboxNow(sql, real);
  const busy = new Set<string>();
  for (const { id, webhook_id, lease_owner, lease_until } of await sendingNow(sql)) {
    if (lease_until > real && !isGone(lease_owner)) busy.add(webhook_id);
    else await freeDelivery(sql, id);
  }
  const options = { now, real, upTo: Math.min(upTo, now) };
  let isPending = busy.size > 0;
  let first: { row: DeliveryRow; webhook: WebhookRow } | undefined;
  for (const webhook of await activeWebhooks(sql)) {
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
    const row = await headOf(sql, options);
    if (row === undefined) break;
    if (row.faults_asked === 1 || !(await meddle(sql, parts, { row, ...options }))) return { row, isHeld: false };
  }
  // Those that are to be overtaken go all the same when nobody comes for a while.
  const held = await headOf(sql, { ...options, real: Number.MAX_SAFE_INTEGER });
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
  const { owner, random, limits } = parts;
  const token = Buffer.from(random.bytes(16)).toString('hex');
  await takeDelivery(sql, { id: row.id, lease: { owner, token, until: real + limits.lease } });
  await overtake(sql, row);
  const written = await deliveryBody(sql, row.id);
  const body = row.edited === 1 ? written : spoken(written, parts);
  const attempt = row.attempt + 1;
  const secrets = secretsOf(webhook, now);
  const headers = headersFor(parts, { row, attempt, body, now, signing: signingFor(row, webhook, secrets) });
  await sql.insert('attempts', {
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

// What an attempt leads to (docs/design/sandbox.md, section 9): delivered, tried again, failed, or the end of a subscription.

interface Came {
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
async function record(sql: Sql, parts: DeliveryParts, claimed: Claimed, came: Came): Promise<void> {
  const { clock } = parts;
  const { row, token, attempt } = claimed;
  const now = await sandboxNow(sql, clock.now());
  const webhook = await webhookById(sql, row.webhook_id);
  const next = await nextState(sql, { claimed, came, now, webhook });
  if ((await endAttempt(sql, { id: row.id, token, ...next })) === 0) return;
  await finishAttempt(sql, { delivery_id: row.id, number: attempt, ...kept(claimed, came) });
  if (webhook !== undefined && !came.isCutOff) await checkPurchase(sql, { webhook, claimed, came, now });
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
  { webhook, claimed, came, now }: Outcome & { readonly webhook: WebhookRow },
): Promise<void> {
  const { id, failing_since, status, url } = webhook;
  // What an address said says nothing about the one that took its place meanwhile.
  if (status !== 'active' || url !== claimed.letter.url) return;
  if (isTaken(came)) {
    if (failing_since !== null) await sql.update('webhooks', { id }, { failing_since: null });
    return;
  }
  const since = failing_since ?? now;
  if (came.reply.status === GONE || now - since >= DELIVERY_GIVEN_UP) {
    await disableWebhook(sql, { id, now });
    await cancelQueued(sql, id);
  } else if (failing_since === null) await sql.update('webhooks', { id }, { failing_since: since });
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

// Sends what is due. The same loop serves `sandbox start`, `sandbox exec`, a listening command and a move of the clock; any number of processes may run it on one store.

/**
 * `signal`: until aborted. `idle`: until nothing that is due at or before `upTo` (ms on the clock of the sandbox; now
 * when left out) is left, in this process or another, or until aborted. Each overdue delivery is tried once by it.
 */
export type Until =
  | { readonly kind: 'signal'; readonly signal: AbortSignal; readonly isHeld?: () => boolean }
  /** Until nothing due is left for this process to begin: another one's attempts are not waited for. */
  | { readonly kind: 'due'; readonly signal: AbortSignal; readonly isHeld?: () => boolean }
  | { readonly kind: 'idle'; readonly upTo?: number | undefined; readonly signal?: AbortSignal | undefined };

/** One attempt, for whoever moved the clock. */
export interface DeliveryAttempt {
  readonly delivery: string;
  /** When it was due: ms UTC on the clock of the sandbox. */
  readonly dueAt: number;
  readonly isDelivered: boolean;
}

/** Subscriptions that are served at the same time. */
const MOST_AT_ONCE = 16;

/** Resolves to what was tried until idle; to nothing when it ran until a signal. Attempts in the air are cut off. */
export async function runDeliveries(parts: DeliveryParts, until: Until): Promise<readonly DeliveryAttempt[]> {
  const stop = until.signal ?? new AbortController().signal;
  const upTo = until.kind === 'idle' ? await dueLimit(parts, until.upTo) : Number.MAX_SAFE_INTEGER;
  const attempts: DeliveryAttempt[] = [];
  const inTheAir = new Set<Promise<void>>();
  const writing = new Set<Promise<void>>();
  const start = ({ ...claimed }: Claimed) => {
    const flight = attempt(parts, claimed, stop).then(({ isDelivered, written }) => {
      if (until.kind === 'idle') attempts.push({ delivery: claimed.row.id, dueAt: claimed.row.due_at, isDelivered });
      inTheAir.delete(flight);
      const saved = written.finally(() => writing.delete(saved));
      writing.add(saved);
    });
    inTheAir.add(flight);
  };
  while (!stop.aborted) {
    const isHeld = until.kind !== 'idle' && until.isHeld?.() === true;
    const look =
      inTheAir.size < MOST_AT_ONCE && !isHeld ? await lookForWork(parts, upTo, writing.size > 0) : { isPending: true };
    if (look.claimed !== undefined) {
      start(look.claimed);
      continue;
    }
    if (inTheAir.size === 0 && (until.kind === 'due' || (until.kind === 'idle' && !look.isPending))) break;
    await moment(parts, { inTheAir, stop, isWaiting: until.kind === 'idle' });
  }
  await Promise.all(inTheAir);
  await Promise.all(writing);
  return attempts;
}

/** What is due at or before `upTo` is tried once each: for a move of the clock, which must stand there already. */
export const fireDeliveriesDue = (parts: DeliveryParts, upTo: number): Promise<readonly DeliveryAttempt[]> =>
  runDeliveries(parts, { kind: 'idle', upTo });

async function dueLimit({ store, clock }: DeliveryParts, upTo: number | undefined): Promise<number> {
  // Fixed once: on a fast clock the next attempt of the same delivery would be due again meanwhile.
  return upTo ?? store.read(sql => sandboxNow(sql, clock.now()));
}

/** Takes the store's lock only when there seems to be work, or when something is being written down anyway. */
async function lookForWork(parts: DeliveryParts, upTo: number, isWriting: boolean): Promise<ClaimResult> {
  const { store, clock, onFault } = parts;
  try {
    const isWork =
      isWriting || (await store.read(async sql => hasWork(sql, Math.min(upTo, await sandboxNow(sql, clock.now())))));
    if (!isWork) return { isPending: false };
    return await store.write(sql => claimNext(sql, parts, upTo));
  } catch (error) {
    if (!(error instanceof StoreBusy)) throw error;
    onFault(error);
    return { isPending: true };
  }
}

/** Sends one and begins to write down what came of it; who waits for `written` knows that it lasts. */
async function attempt(parts: DeliveryParts, claimed: Claimed, signal: AbortSignal) {
  const { store, clock, resolve, allowRemote, limits, onFault } = parts;
  const began = clock.monotonic();
  const reply = await post(claimed.letter, { resolve, allowRemote, clock, limit: limits.attempt, signal });
  const { status = 0 } = reply;
  const came = { reply, duration: clock.monotonic() - began, isCutOff: status === 0 && signal.aborted };
  // Not waited for: the next claim of this subscription joins the same commit.
  const written = writtenDown(parts, () => store.write(sql => record(sql, parts, claimed, came))).catch(onFault);
  return { isDelivered: status >= 200 && status <= 299, written };
}

/** Real ms between two tries to write down what came of an attempt. */
const WRITE_AGAIN = 200;

/**
 * Tries as long as the lease lasts: else a receiver that has answered would be told again. A second time changes nothing,
 * because the lease is given up with the first.
 */
async function writtenDown({ clock, limits }: DeliveryParts, write: () => Promise<void>): Promise<void> {
  const until = clock.monotonic() + limits.lease;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreBusy) || clock.monotonic() >= until) throw error;
      await clock.sleep(WRITE_AGAIN);
    }
  }
}

interface Waiting {
  readonly inTheAir: ReadonlySet<Promise<void>>;
  readonly stop: AbortSignal;
  readonly isWaiting: boolean;
}

/** Until one of ours has landed, it is time to look again, or the end. */
async function moment({ clock, limits }: DeliveryParts, { inTheAir, stop, isWaiting }: Waiting): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  if (stop.aborted) end();
  stop.addEventListener('abort', end);
  const pause = clock.sleep(isWaiting ? Math.min(10, limits.poll) : limits.poll, over.signal).catch(() => undefined);
  await Promise.race([pause, ...inTheAir]);
  stop.removeEventListener('abort', end);
  end();
}

// Faults on the way to a receiver: twice, later, out of order. Each delivery is asked about once.

interface Moment {
  readonly row: DeliveryRow;
  readonly now: number;
  readonly real: number;
}

/** Asks the faults about a delivery and carries out what they want. True when it must be looked for anew. */
async function meddle(sql: Sql, parts: DeliveryParts, { row, now, real }: Moment): Promise<boolean> {
  const { faults, limits } = parts;
  const { webhook_id, event_id, event_type } = row;
  const fault = await faults({ sql, now, webhookId: webhook_id, eventId: event_id, event: event_type });
  const same = { id: row.id, due_at: row.due_at, behind: 0, held_until: null };
  switch (fault?.kind) {
    case 'duplicate':
      await changeQueued(sql, same);
      await twice(sql, { row, now });
      return false;
    case 'delay':
      await changeQueued(sql, { ...same, due_at: now + fault.ms });
      return true;
    case 'reorder': {
      const behind = await drawn(sql, row.id, fault.window);
      await changeQueued(sql, { ...same, behind, held_until: behind === 0 ? null : real + limits.hold });
      return behind > 0;
    }
    default:
      await changeQueued(sql, same);
      return false;
  }
}

/** A second row with the same event id and bytes: a receiver cannot tell it from a repetition. */
async function twice(sql: Sql, { row, now }: { row: DeliveryRow; now: number }): Promise<void> {
  const { webhook_id, event_id, event_type, event_seq } = row;
  const content = event_seq === null ? { body: await deliveryBody(sql, row.id) } : { seq: event_seq };
  const idSource = deterministicIds({ sql });
  await enqueue({ sql, now, idSource }, { webhook_id, event_id, event_type, content, untouched: true });
}

/** 0 to `window`, fixed by the seed. */
async function drawn(sql: Sql, delivery: string, window: number): Promise<number> {
  const fraction = fractionOf(`${await seedOf(sql)} reorder ${delivery}`);
  return Math.floor(fraction * (window + 1));
}
