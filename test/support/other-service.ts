/**
 * A service nobody here would write: it speaks the interface with other routes, other names and another envelope, and
 * knows nothing of our code. Cards live in a map, money in cents; every request is kept. Driven with OTHER_CONTRACT.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const OTHER_KEY = 'sk_test_other_service_5d1c';

/** The override file that tells cardwright of it. */
export const OTHER_CONTRACT = {
  operations: {
    'cards.list': { path: '/issued' },
    'cards.get': { path: '/issued/{card_id}' },
    'cards.details': { method: 'POST' },
    'cards.freeze': { method: 'PATCH', path: '/issued/{card_id}', body: { state: 'frozen' } },
    'cards.unfreeze': { method: 'PATCH', path: '/issued/{card_id}', body: { state: 'active' } },
    'cards.terminate': { method: 'DELETE', path: '/issued/{card_id}' },
    'cards.fund': { method: 'PUT', path: '/issued/{card_id}/load' },
    'cards.withdraw': { method: 'PUT', path: '/issued/{card_id}/unload' },
    'transactions.list': { path: '/history' },
    'wallet.get': { path: '/account/balance' },
    'wallet.addresses': { path: '/account/addresses' },
    'challenges.list': { path: '/otp' },
    'webhooks.list': { path: '/hooks' },
    'webhooks.create': { path: '/hooks' },
    'webhooks.get': { path: '/hooks/{webhook_id}' },
    'webhooks.update': { method: 'PUT', path: '/hooks/{webhook_id}' },
    'webhooks.delete': { path: '/hooks/{webhook_id}' },
  },
  fields: { 'details.number': 'card_number', 'card.status': 'state', 'challenge.otp': 'passcode' },
} as const;

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export interface OtherService extends AsyncDisposable {
  readonly baseUrl: string;
  readonly seen: Seen[];
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

interface Asked {
  readonly ids: readonly string[];
  readonly body: Record<string, never>;
  readonly query: URLSearchParams;
}

type Card = { id: string; state: string; cents: number; label: string; metadata: unknown };

/** Starts it on a free loopback port. */
export async function otherService(): Promise<OtherService> {
  const seen: Seen[] = [];
  const answer = service();
  const server: Server = createServer((request, response) => {
    void bodyOf(request).then(body => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      seen.push({ method: request.method ?? '', path: url.pathname + url.search, body });
      const right = request.headers.authorization === `Bearer ${OTHER_KEY}`;
      const { status, body: told } = right
        ? answer(`${request.method} ${url.pathname.replace('/api/v1', '')}`, body, url.searchParams)
        : { status: 401, body: { error: 'who_are_you', message: 'no such key', code: 401, request_id: 'r-0' } };
      // The clock of a test stands still; a real date would be told as a wrong one.
      response.sendDate = false;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(told === undefined ? '' : JSON.stringify(told));
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

function service() {
  const cards = new Map<string, Card>();
  const hooks = new Map<string, Record<string, unknown>>();
  let wallet = 100_000;
  const shown = ({ id, state, cents, label, metadata }: Card) => ({
    id,
    state,
    label,
    last4: '4242',
    network: 'visa',
    balance: cents / 100,
    bin_id: 'B-1',
    created_at: '2026-11-20T14:03:11+00:00',
    favourite_colour: 'green',
    metadata,
  });
  const list = (rows: readonly unknown[]) => ({
    status: 200,
    body: { items: rows, pagination: { current_page: 1, last_page: 1, total_count: rows.length } },
  });
  const one = (body: unknown, status = 200) => ({ status, body: { data: body } });
  const no = (status: number, error: string) => ({
    status,
    body: { error, message: `no: ${error}`, code: status, request_id: 'r-1' },
  });
  const withCard = (id: string | undefined, act: (card: Card) => Answer): Answer => {
    const card = cards.get(id ?? '');
    return card === undefined ? no(404, 'unknown_card') : act(card);
  };
  const moved = (id: string | undefined, by: number) =>
    withCard(id, card => {
      if (wallet < by) return no(400, 'insufficient_funds');
      wallet -= by;
      card.cents += by;
      return one({
        card: { id: card.id, balance: card.cents / 100 },
        wallet: { balance: wallet / 100 },
        amount: Math.abs(by) / 100,
      });
    });
  const cents = (amount: unknown) => Math.round(Number(amount) * 100);

  const routes: Readonly<Record<string, (asked: Asked) => Answer>> = {
    'GET /bins': () => ({
      status: 200,
      body: { data: [{ id: 'B-1', network: 'visa', '3ds': true, max_monthly: 9000 }] },
    }),
    'POST /cards': ({ body }) => {
      if (body['bin_id'] !== 'B-1') return no(404, 'bin_unknown');
      if (wallet < cents(body['amount'])) return no(400, 'insufficient_funds');
      const card = {
        id: `C-${cards.size + 1}`,
        state: 'active',
        cents: cents(body['amount']),
        label: body['label'] ?? '',
        metadata: body['metadata'] ?? {},
      };
      wallet -= card.cents;
      cards.set(card.id, card);
      return one(shown(card), 200);
    },
    'GET /issued': () => list([...cards.values()].map(shown)),
    'GET /issued/*': ({ ids }) => withCard(ids[0], card => one(shown(card))),
    'POST /cards/*/details': ({ ids }) =>
      withCard(ids[0], () => one({ card_number: '4242424242424242', cvc: '123', expiry: '11/2029' })),
    'PATCH /issued/*': ({ ids, body }) =>
      withCard(ids[0], card => {
        card.state = body['state'] ?? card.state;
        return one(shown(card));
      }),
    'DELETE /issued/*': ({ ids }) =>
      withCard(ids[0], card => {
        wallet += card.cents;
        card.cents = 0;
        card.state = 'terminated';
        return { status: 204 };
      }),
    'PUT /issued/*/load': ({ ids, body }) => moved(ids[0], cents(body['amount'])),
    'PUT /issued/*/unload': ({ ids, body }) => moved(ids[0], -cents(body['amount'])),
    'GET /history': ({ query }) =>
      list([
        {
          id: 'T-1',
          card_id: query.get('card_id') ?? 'C-1',
          type: 'settlement',
          amount: 4.5,
          merchant: { name: 'Café' },
        },
      ]),
    'GET /account/balance': () => one({ balance: wallet / 100, currency: 'USD' }),
    'GET /account/addresses': () => list([{ currency: 'btc', chain: 'bitcoin', address: 'bc1-somewhere' }]),
    'GET /otp': () => ({ status: 200, body: { data: [{ id: 'O-1', card_id: 'C-1', passcode: '001122', amount: 9 }] } }),
    'GET /hooks': () => list([...hooks.values()]),
    'POST /hooks': ({ body }) => {
      const hook = { id: `H-${hooks.size + 1}`, url: body['url'], events: body['events'], status: 'active' };
      hooks.set(hook.id, hook);
      return one({ ...hook, secret: 'whsec_other' }, 201);
    },
    'GET /hooks/*': ({ ids }) => (hooks.has(ids[0] ?? '') ? one(hooks.get(ids[0] ?? '')) : no(404, 'unknown_hook')),
    'PUT /hooks/*': ({ ids, body }) => one(Object.assign(hooks.get(ids[0] ?? '') ?? {}, body)),
    'DELETE /hooks/*': ({ ids }) => ({ status: hooks.delete(ids[0] ?? '') ? 204 : 404 }),
  };

  return (line: string, text: string, query: URLSearchParams): Answer => {
    for (const [pattern, answer] of Object.entries(routes)) {
      const found = new RegExp(`^${pattern.replaceAll('*', '([^/]+)')}$`).exec(line);
      if (found) return answer({ ids: found.slice(1), body: text === '' ? {} : JSON.parse(text), query });
    }
    return no(404, 'no_such_route');
  };
}
