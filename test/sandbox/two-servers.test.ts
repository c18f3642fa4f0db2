/** Two processes serve one store: one key has one effect, and what a dead process was sending goes again. */
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { program } from '../support/child.ts';
import { receiver } from '../support/receiver.ts';
import { ask, type Served } from '../support/sandbox-http.ts';
import { startSandbox } from '../support/start-sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SOURCE = `
import { startSandbox } from './src/sandbox/serving/start.ts';
const [store, deliveries] = process.argv.slice(2);
const { url, key, adminToken } = await startSandbox({ store, deliveries, rateLimits: false, wallet: 1000 });
console.log(JSON.stringify([url, key.expose(), adminToken.expose()]));
`;

const child = await program(SOURCE);
afterAll(() => child[Symbol.asyncDispose]());

/** A process of its own that serves the store until it is killed. */
async function served(store: string, deliveries: 'live' | 'on-deliver' = 'on-deliver') {
  const running = child.start(store, deliveries);
  const [line] = (await once(running.stdout ?? running, 'data')) as [Buffer];
  const [url, key, adminToken] = JSON.parse(line.toString()) as [string, string, string];
  const kill = async () => {
    if (running.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  };
  const server: Served = { url, key: new Secret(key), adminToken: new Secret(adminToken) };
  return { ...server, kill, [Symbol.asyncDispose]: kill };
}

const binOf = async (server: Served) => (await ask(server, { path: '/bins' })).json.data[0].id as string;

it('gives one effect and one answer to a key that reaches both at once', async () => {
  await using folder = await temporaryFolder();
  const store = join(folder.path, 'store.db');
  await using one = await served(store);
  await using other = await served(store);
  const bin_id = await binOf(one);
  const create = (server: Served, idempotencyKey: string, amount = 3) =>
    ask(server, { method: 'POST', path: '/cards', body: { bin_id, amount }, idempotencyKey });
  const firsts: string[] = [];
  for (let nth = 0; nth < 5; nth += 1) {
    // Twice each, so that they also meet their like in their own process; that one may say "in progress".
    const answers = await Promise.all([one, other, one, other].map(server => create(server, `key-${nth}`)));
    const created = answers.filter(({ status }) => status === 201);
    expect(answers.map(({ status }) => status).filter(status => status !== 201 && status !== 409)).toEqual([]);
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    const [first, ...more] = created.filter(({ headers }) => headers['idempotent-replayed'] === undefined);
    expect(more).toEqual([]);
    firsts.push(first?.json.id);
    for (const server of [one, other]) {
      const again = await create(server, `key-${nth}`);
      expect([again.text, again.headers['idempotent-replayed']]).toEqual([first?.text, 'true']);
      expect((await create(server, `key-${nth}`, 4)).json.error).toBe('idempotency_key_reused');
    }
  }
  for (const server of [one, other]) {
    const { json } = await ask(server, { path: '/_sandbox/v1/status' });
    expect(json).toMatchObject({ cards: 5, events: 5, ledger_ok: true, wallet_balance: 1000 - 5 * 3 });
  }
  expect(new Set(firsts).size).toBe(5);
});

/** A card and a subscription of a server of its own, whose first delivery hangs at `inbox`. */
async function beginDelivery(server: Served, inbox: { readonly url: string; until(count: number): Promise<void> }) {
  await subscribed(server, inbox);
  await inbox.until(1);
}

/** A delivery is due, and nobody has begun it. */
async function subscribed(server: Served, inbox: { readonly url: string }) {
  await ask(server, { method: 'POST', path: '/webhooks', body: { url: inbox.url, events: ['*'] } });
  const body = { bin_id: await binOf(server), amount: 3 };
  await ask(server, { method: 'POST', path: '/cards', body });
}

it('sends again what a killed process was sending, and not while it lives', async () => {
  await using folder = await temporaryFolder();
  const store = join(folder.path, 'store.db');
  await using inbox = await receiver((response, nth) => void (nth === 1 || response.end()));
  await using second = await receiver();
  await using first = await served(store, 'live');
  await beginDelivery(first, inbox);
  await using heir = await startSandbox({ store, rateLimits: false, deliveryLimits: { poll: 5 } });
  await ask(heir, { method: 'POST', path: '/webhooks', body: { url: second.url, events: ['*'] } });
  const body = { bin_id: await binOf(heir), amount: 1 };
  // It looked again and again, and left alone what the living process has.
  for (let nth = 1; nth <= 3; nth += 1) {
    await ask(heir, { method: 'POST', path: '/cards', body });
    await second.until(nth);
  }
  expect(inbox.received).toHaveLength(1);
  const { json: sending } = await ask(heir, { path: '/_sandbox/v1/deliveries?state=sending' });
  for (const { id, attempts } of sending.data) {
    const { json: one } = await ask(heir, { path: `/_sandbox/v1/deliveries/${id}` });
    for (const { error } of [attempts[0], one.attempts[0]]) expect([null, 'waiting for the answer']).toContain(error);
  }
  expect(sending.data[0].attempts[0]).toMatchObject({ status: null, error: 'waiting for the answer' });
  await first.kill();
  await inbox.until(5);
  const ids = inbox.received.map(({ headers }) => [headers['x-webhook-id'], headers['x-webhook-attempt']]);
  expect(ids[1]).toEqual([ids[0]?.[0], '2']);
  expect(inbox.received[1]?.bytes).toEqual(inbox.received[0]?.bytes);
  expect(new Set(ids.map(([id]) => id)).size).toBe(4);
  await heir.deliver({ kind: 'idle' });
  expect(inbox.received).toHaveLength(5);
  const { json } = await ask(heir, { path: '/_sandbox/v1/deliveries' });
  const taken = json.data.find(({ attempt }: { attempt: number }) => attempt === 2);
  expect(taken).toMatchObject({ state: 'delivered' });
  expect(taken.attempts.map(({ status, error }: { status: number; error: string }) => [status, error])).toEqual([
    [null, 'the sender ended before it knew what came of this attempt'],
    [200, null],
  ]);
});

it('takes a lease over when its time is up, and then the late answer counts for nothing', async () => {
  await using folder = await temporaryFolder();
  const store = join(folder.path, 'store.db');
  let late = async () => undefined as unknown;
  await using inbox = await receiver((response, nth) => {
    if (nth > 1) return void response.end();
    late = () => once(response.writeHead(410).end(), 'close');
  });
  // Of one process, so that nobody can be proved gone: the lease decides. The slow one does not look again: it could take its
  // own lease over, and on a busy machine the next one too.
  const options = { store, rateLimits: false, wallet: 1000 };
  const oneLook = { poll: 600_000, attempt: 60_000, lease: 200 };
  await using slow = await startSandbox({ ...options, deliveries: 'on-deliver', deliveryLimits: oneLook });
  await subscribed(slow, inbox);
  const ending = new AbortController();
  const sending = slow.deliver({ kind: 'signal', signal: ending.signal });
  await inbox.until(1);
  await using heir = await startSandbox({ ...options, deliveryLimits: { poll: 5, attempt: 60_000 } });
  await inbox.until(2);
  await late();
  ending.abort();
  await sending;
  await slow.stop();
  // It has written down what it knows once it is idle.
  await heir.deliver({ kind: 'idle' });
  const { json } = await ask(heir, { path: '/_sandbox/v1/deliveries' });
  expect(json.data).toHaveLength(1);
  expect(json.data[0]).toMatchObject({ state: 'delivered', attempt: 2 });
  expect((await ask(heir, { path: '/webhooks' })).json.data[0].status).toBe('active');
  expect(inbox.received).toHaveLength(2);
});

it('fires each timer once, whichever of the two comes to it first', async () => {
  await using folder = await temporaryFolder();
  const store = join(folder.path, 'store.db');
  await using one = await served(store);
  await using other = await startSandbox({ store, rateLimits: false, wallet: 1000, timers: 'live' });
  const admin = (method: string, path: string, body?: object) =>
    ask(one, { method, path: `/_sandbox/v1${path}`, body });
  await admin('PUT', '/clock', { mode: 'frozen' });
  const deposits = Array.from({ length: 15 }, () =>
    admin('POST', '/simulate/deposits', { currency: 'btc', amount: 10 }),
  );
  await Promise.all(deposits);
  const [start] = (await admin('GET', '/clock')).json.now.split('T');
  // All of them are due at once; nobody has looked yet, and then everybody does.
  await admin('PUT', '/clock', { mode: 'frozen', at: `${Number(start.slice(0, 4)) + 1}${start.slice(4)}T00:00:00Z` });
  const looks = Array.from({ length: 10 }, (_, nth) => ask(nth % 2 === 0 ? one : other, { path: '/wallet' }));
  for (const { json } of await Promise.all(looks)) {
    expect(json).toMatchObject({ balance: 1150, total_deposited: 1150, pending_deposits: 0 });
  }
  const { json: events } = await admin('GET', '/events?type=deposit.confirmed');
  expect(events.meta.total).toBe(15);
  expect((await admin('POST', '/ledger/check', {})).json).toMatchObject({ ok: true, faults: [] });
});
