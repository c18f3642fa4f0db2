/**
 * Deliveries: the attempts, each from its claim to what came of it, and the loop that sends what is due. A claim is a lease in the store: two processes never send one
 * delivery at the same time, and one whose sender died goes again (at least once). One at a time for each subscription, by due
 * time and then in the order of the events: order is kept as long as nothing fails, and a retry holds nothing else up.
 */
import { HEADERS } from '../../contract/envelopes.ts';
import { EVENTS, type EventName } from '../../contract/events.ts';
import { sign } from '../../contract/signature/signature.ts';
import { DELIVERY_GIVEN_UP, DELIVERY_TIMEOUT } from '../../contract/spans.ts';
import { Secret } from '../../core/secret.ts';
import type { Host } from '../../platform/host.ts';
import { rest } from '../../platform/time.ts';
import { deterministicIds, fractionOf, seedOf } from '../calls/deterministic-ids.ts';
import { sandboxNow, type Timer } from '../clock/clock.ts';
import type { ActiveDialect } from '../dialects/table.ts';
import { deliveryFault } from '../faults/faults.ts';
import { enqueueAgain } from '../outbox/outbox.ts';
import type { Store } from '../store/queue.ts';
import {
  activeWebhooks,
  cancelQueued,
  type DeliveryRow,
  type DeliveryState,
  deliveryBody,
  sendingNow,
  type WebhookRow,
} from '../store/rows.ts';
import { type Sql, StoreBusy } from '../store/sql.ts';
import { isDelivered, post, type Reply, retryWait, type WebhookRequest } from './send.ts';

/**
 * Real ms: within which a receiver must have answered; after which a sender counts as dead, well above that; between two
 * looks for what is due; and that one which is to be overtaken waits at most for others.
 */
const LIMITS = { attempt: DELIVERY_TIMEOUT as number, lease: 30_000, poll: 100, hold: 1_000 };
type DeliveryLimits = Readonly<typeof LIMITS>;

/** What of it may be left out. */
export interface DeliveryOptions {
  /** May go to other machines, over https; false when left out. */
  readonly allowRemote?: boolean | undefined;
  readonly limits?: Partial<DeliveryLimits> | undefined;
}

/** What sending needs of a sandbox. */
export interface SendingParts extends Pick<Host, 'clock' | 'random'> {
  readonly store: Store;
  /** Name of this process in leases, see files/process-identity.ts. */
  readonly owner: string;
  readonly isGone: (owner: string) => boolean;
  readonly version: string;
  /** How this server speaks; see dialects/. */
  readonly activeDialect: ActiveDialect;
  /** Told about every error nobody expected; the caller of the service sees a 500 without details. */
  readonly onFault: (error: unknown) => void;
}

interface DeliveryParts extends SendingParts {
  readonly allowRemote: boolean;
  readonly limits: DeliveryLimits;
}

/** A delivery that was taken for an attempt. */
type Claimed = ReturnType<typeof take>;

const FREE = { lease_owner: null, lease_token: null, lease_until: null };

/** When a claim is made: on the clock of the sandbox and in real time, and until when things are due. */
interface Moment {
  readonly now: number;
  readonly real: number;
  readonly upTo: number;
}

/**
 * Claims the next delivery that is due at or before `upTo` and now, in the open transaction. `isPending`: something due is being
 * sent by somebody, or waits to be overtaken, and is worth another look soon.
 */
function claimNext(sql: Sql, parts: DeliveryParts, upTo: number) {
  const { clock, isGone } = parts;
  const real = clock.now();
  const now = sandboxNow(sql, real);
  const busy = new Set<string>();
  for (const { id, webhook_id, lease_owner, lease_until } of sendingNow(sql)) {
    if (lease_until > real && !isGone(lease_owner)) busy.add(webhook_id);
    // Its sender died.
    else sql.update('deliveries', { id, state: 'sending' }, { state: 'queued', ...FREE });
  }
  const moment = { now, real, upTo: Math.min(upTo, now) };
  let isPending = busy.size > 0;
  let first: { row: DeliveryRow; webhook: WebhookRow } | undefined;
  for (const webhook of activeWebhooks(sql)) {
    if (busy.has(webhook.id)) continue;
    const { row, isHeld } = headFor(sql, parts, webhook.id, moment);
    isPending ||= isHeld;
    if (row === undefined) continue;
    const order = first === undefined ? -1 : row.due_at - first.row.due_at || row.position - first.row.position;
    if (order < 0) first = { row, webhook };
  }
  if (first === undefined) return { claimed: undefined, isPending };
  return { claimed: take(sql, parts, first, moment), isPending: true };
}

/**
 * The first one of a subscription that may go now. Of those that were due at once the ones drawn to let fewer others
 * pass go first: when every one of them waits to be overtaken, their order is still the drawn one.
 */
const HEAD = `select * from deliveries where webhook_id = ? and state = 'queued' and due_at <= ?
  and (behind = 0 or held_until <= ?) order by due_at, behind, position limit 1`;

/** The first of a subscription that no fault keeps back. */
function headFor(sql: Sql, parts: DeliveryParts, webhook: string, moment: Moment) {
  for (;;) {
    const row = sql.get<DeliveryRow>(HEAD, webhook, moment.upTo, moment.real);
    if (row === undefined) break;
    if (row.faults_asked === 1 || !applyFault(sql, parts, row, moment)) return { row, isHeld: false };
  }
  // Those that are to be overtaken go all the same when nobody comes for a while.
  const held = sql.get<DeliveryRow>(HEAD, webhook, moment.upTo, Number.MAX_SAFE_INTEGER);
  return { row: undefined, isHeld: held !== undefined };
}

/** Each delivery is asked about once: it goes twice, later, or behind others. True when it must be looked for anew. */
function applyFault(sql: Sql, { limits }: DeliveryParts, row: DeliveryRow, { now, real }: Moment): boolean {
  const { id, webhook_id, event_type } = row;
  const change = (changed: Partial<Pick<DeliveryRow, 'due_at' | 'behind' | 'held_until'>> = {}) =>
    sql.update('deliveries', { id, state: 'queued' }, { faults_asked: 1, behind: 0, held_until: null, ...changed });
  const action = deliveryFault(sql, { now, event: event_type, webhook: webhook_id });
  switch (action?.kind) {
    case 'duplicate_delivery':
      change();
      // A receiver cannot tell it from a repetition.
      enqueueAgain({ sql, now, idSource: deterministicIds({ sql }) }, row, true);
      return false;
    case 'delay_delivery':
      change({ due_at: now + action.ms });
      return true;
    case 'reorder_deliveries': {
      // How many go first, 0 to `window`, is fixed by the seed.
      const behind = Math.floor(fractionOf(`${seedOf(sql)} reorder ${id}`) * (action.window + 1));
      change({ behind, held_until: behind === 0 ? null : real + limits.hold });
      return behind > 0;
    }
    default:
      change();
      return false;
  }
}

/** Takes one for an attempt, which is counted now: whatever happens, it was begun. */
function take(
  sql: Sql,
  { owner, random, limits, version, activeDialect: { dialect } }: DeliveryParts,
  { row, webhook }: { readonly row: DeliveryRow; readonly webhook: WebhookRow },
  { now, real }: Moment,
) {
  const token = Buffer.from(random.bytes(16)).toString('hex');
  const attempt = row.attempt + 1;
  const lease = { lease_owner: owner, lease_token: token, lease_until: real + limits.lease };
  const taken = { state: 'sending', attempt, behind: 0, held_until: null, ...lease } as const;
  sql.update('deliveries', { id: row.id, state: 'queued' }, taken);
  // One that goes now lets those it overtakes come nearer.
  sql.run(
    `update deliveries set behind = behind - 1
     where webhook_id = ? and state = 'queued' and behind > 0 and position < ?`,
    row.webhook_id,
    row.position,
  );
  // The bytes of the event, or what a dialect makes of them, the same on every attempt.
  const written = deliveryBody(sql, row.id);
  const body =
    row.edited === 1 || dialect.payload === undefined ? written : JSON.stringify(dialect.payload(JSON.parse(written)));
  const bytes = Buffer.from(body);
  const secrets = validSecrets(webhook, now);
  // After a rotation the signatures of both secrets, separated by a comma; without any there is none.
  const { header, prefix } = dialect.signature ?? { header: HEADERS.webhook_signature.name, prefix: '' };
  const signatures = signingFor(row, webhook, secrets).map(secret => prefix + sign(bytes, secret));
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(bytes.length),
    'User-Agent': `cardwright-sandbox/${version}`,
    ...(signatures.length > 0 && { [header]: signatures.join(',') }),
    [HEADERS.webhook_id.name]: row.event_id,
    [HEADERS.webhook_attempt.name]: String(attempt),
    [HEADERS.webhook_timestamp.name]: String(Math.floor(now / 1000)),
  };
  sql.insert('attempts', {
    delivery_id: row.id,
    number: attempt,
    at: now,
    request_headers: JSON.stringify(headers),
    // What stands there when the sender does not live to write what came of it.
    error: 'the sender ended before it knew what came of this attempt',
  });
  const request: WebhookRequest = { url: webhook.url, headers, body };
  // The secrets of the subscription are taken out of what is kept.
  return { row, attempt, token, request, secrets };
}

/** The secret, and the one before it while both are valid. */
function validSecrets({ secret, former_secret, former_until }: WebhookRow, now: number): readonly Secret[] {
  const former = former_secret !== null && former_until !== null && former_until > now ? [former_secret] : [];
  return [secret, ...former].map(text => new Secret(text));
}

/** What signs a delivery: usually every secret that is valid, else what was asked for. */
function signingFor({ sign }: DeliveryRow, { former_secret: former }: WebhookRow, secrets: readonly Secret[]) {
  if (sign === 'none') return [];
  if (sign === null) return secrets;
  return [new Secret((sign === 'former' ? former : null) ?? 'not the secret of any subscription')];
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

/**
 * Writes down what came of a claimed delivery, nothing when the lease is not ours any more; and whether its subscription goes on: 410
 * ends it at once, five days of nothing but failures too.
 */
function record(sql: Sql, { clock }: DeliveryParts, claimed: Claimed, came: Came): void {
  const { row, token, attempt, request } = claimed;
  const now = sandboxNow(sql, clock.now());
  const webhook = sql.row('webhooks', { id: row.webhook_id });
  const [isTaken, isGone] = [isDelivered(came.reply), came.reply.status === GONE];
  const wait = isGone ? undefined : retryWait(attempt, { seed: seedOf(sql), delivery: row.id });
  const stateAfterFailure = (): DeliveryState => {
    if (wait === undefined) return 'failed';
    return webhook?.status === 'active' ? 'queued' : 'cancelled';
  };
  const state = isTaken ? 'delivered' : stateAfterFailure();
  const due_at = state === 'queued' && !came.isCutOff ? now + (wait ?? 0) : row.due_at;
  const isOurs = sql.update('deliveries', { id: row.id, lease_token: token }, { state, due_at, ...FREE });
  if (isOurs === 0) return;
  sql.update('attempts', { delivery_id: row.id, number: attempt }, kept(claimed, came));
  // What an address said says nothing about the one that took its place meanwhile.
  if (came.isCutOff || webhook?.status !== 'active' || webhook.url !== request.url) return;
  const { id, failing_since } = webhook;
  const since = isTaken ? null : (failing_since ?? now);
  if (isGone || (since !== null && now - since >= DELIVERY_GIVEN_UP)) {
    sql.update('webhooks', { id }, { status: 'disabled', updated_at: now, failing_since: null });
    cancelQueued(sql, id);
  } else if (since !== failing_since) sql.update('webhooks', { id }, { failing_since: since });
}

/** What is kept of an answer: its beginning, without cookies and without any secret or one-time code a receiver sent back. */
function kept({ row, request, secrets }: Claimed, { reply, duration }: Came) {
  const codes = row.edited === 1 ? [] : secretValues(row.event_type, request.body);
  const hidden = [...secrets.map(secret => secret.expose()), ...codes];
  const clean = (text: string) =>
    hidden.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text).replaceAll('\0', '\ufffd');
  const { address = null, status = null, headers, body, error = null } = reply;
  const withoutCookies = (name: string, value: unknown) => (/cookie/i.test(name) ? '[redacted]' : value);
  // Cut between characters: half of one would not be text.
  const beginning = (text: string) =>
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.from(text).subarray(0, MOST_KEPT), { stream: true });
  return {
    address,
    status,
    answer_headers: headers === undefined ? null : clean(JSON.stringify(headers, withoutCookies)),
    answer_body: body === undefined ? null : beginning(clean(body)),
    duration: Math.round(duration),
    error,
  };
}

/** Values of the payload that are never kept outside of it: one-time codes. */
function secretValues(event: EventName, body: string): readonly string[] {
  const { data } = JSON.parse(body) as { readonly data: Readonly<Record<string, unknown>> };
  return Object.entries(EVENTS[event].data).flatMap(([name, field]) => {
    const value = data[field.wire ?? name];
    return field.secret && typeof value === 'string' && value !== '' ? [value] : [];
  });
}

// Sending what is due. The same loop serves `sandbox start`, `sandbox exec`, a listening command and a move of the clock; any number of processes may run it on one store.

/** The deliveries of one sandbox in one process: live in the background, or step by step while the clock is moved. */
export type Dispatcher = ReturnType<typeof createDispatcher>;

/** With `live` it begins to send in the background at once. */
export function createDispatcher(
  sender: SendingParts,
  { live, allowRemote = false, limits }: DeliveryOptions & { readonly live: boolean },
) {
  const parts: DeliveryParts = { ...sender, allowRemote, limits: { ...LIMITS, ...limits } };
  const stopping = new AbortController();
  let held = 0;
  const deliver = (until: Until) => runDeliveries(parts, until, () => until.kind !== 'idle' && held > 0);
  const background = live ? deliver({ kind: 'signal', signal: stopping.signal }).catch(parts.onFault) : undefined;
  return {
    /** Sends what is due until idle or until a signal; see `Until`. */
    deliver,
    /** Keeps everybody from sending but who delivers until idle; call what it returns, once, to let them go on. */
    hold() {
      held += 1;
      return () => {
        held -= 1;
      };
    },
    /** Ends the background; what is in the air is cut off and goes again later. */
    async stop() {
      stopping.abort();
      await background;
    },
  };
}

/**
 * `signal`: until aborted. `idle`: until nothing that is due at or before `upTo` (ms on the clock of the sandbox; now when left out) is
 * left, in this process or another; each overdue delivery is tried once by it.
 */
export interface Until {
  readonly kind: 'signal' | 'idle';
  readonly signal?: AbortSignal | undefined;
  readonly upTo?: number | undefined;
}

/** Subscriptions that are served at the same time. */
const MOST_AT_ONCE = 16;

/** Resolves to what was tried until idle, for whoever moved the clock; to nothing when it ran until a signal. Attempts in the air are cut off. */
async function runDeliveries(parts: DeliveryParts, until: Until, isHeld: () => boolean): Promise<readonly Timer[]> {
  const { store, clock, limits } = parts;
  const stop = until.signal ?? new AbortController().signal;
  // Fixed once: on a fast clock the next attempt of the same delivery would be due again meanwhile.
  const isDraining = until.kind === 'idle';
  const upTo = isDraining
    ? (until.upTo ?? (await store.read(sql => sandboxNow(sql, clock.now()))))
    : Number.MAX_SAFE_INTEGER;
  const attempts: Timer[] = [];
  const inTheAir = new Set<Promise<void>>();
  const writing = new Set<Promise<void>>();
  const start = (claimed: Claimed) => {
    const flight = attempt(parts, claimed, stop).then(({ written }) => {
      const { id: ref, due_at } = claimed.row;
      if (isDraining) attempts.push({ due_at, kind: 'delivery', ref });
      inTheAir.delete(flight);
      const saved = written.finally(() => writing.delete(saved));
      writing.add(saved);
    });
    inTheAir.add(flight);
  };
  while (!stop.aborted) {
    const look =
      inTheAir.size < MOST_AT_ONCE && !isHeld() ? await lookForWork(parts, upTo, writing.size > 0) : LOOK_AGAIN;
    if (look.claimed !== undefined) {
      start(look.claimed);
      continue;
    }
    if (isDraining && inTheAir.size === 0 && !look.isPending) break;
    // Until one of ours has landed, it is time to look again, or the end.
    const pause = rest(isDraining ? Math.min(10, limits.poll) : limits.poll, clock, stop);
    await Promise.race([pause, ...inTheAir]);
  }
  await Promise.all(inTheAir);
  await Promise.all(writing);
  return attempts;
}

/** When the next delivery is due; undefined when none is queued. */
export function earliestDue(sql: Sql): number | undefined {
  const statement = "select due_at from deliveries where state = 'queued' order by due_at limit 1";
  return sql.get<{ due_at: number }>(statement)?.due_at;
}

const NOTHING_DUE = { claimed: undefined, isPending: false };
const LOOK_AGAIN = { claimed: undefined, isPending: true };

/** Takes the store's lock only when there seems to be work, or when something is being written down anyway. */
async function lookForWork(parts: DeliveryParts, upTo: number, isWriting: boolean) {
  const { store, clock, onFault } = parts;
  try {
    const isWork = (sql: Sql) => {
      const due = earliestDue(sql);
      return (due !== undefined && due <= Math.min(upTo, sandboxNow(sql, clock.now()))) || sendingNow(sql).length > 0;
    };
    if (!isWriting && !(await store.read(isWork))) return NOTHING_DUE;
    return await store.write(sql => claimNext(sql, parts, upTo));
  } catch (error) {
    if (!(error instanceof StoreBusy)) throw error;
    onFault(error);
    return LOOK_AGAIN;
  }
}

/** Sends one and begins to write down what came of it; who waits for `written` knows that it lasts. */
async function attempt(parts: DeliveryParts, claimed: Claimed, signal: AbortSignal) {
  const { store, clock, allowRemote, limits, onFault } = parts;
  const began = clock.monotonic();
  const reply = await post(claimed.request, { allowRemote, clock, limit: limits.attempt, signal });
  const isCutOff = reply.status === undefined && signal.aborted;
  const came = { reply, duration: clock.monotonic() - began, isCutOff };
  // Not waited for: the next claim of this subscription joins the same commit.
  return { written: store.write(sql => record(sql, parts, claimed, came)).catch(onFault) };
}
