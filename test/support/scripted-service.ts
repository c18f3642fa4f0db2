/**
 * A service that does what a test tells it: every write goes through a script, which decides whether it is executed and
 * what is answered. Cards and keys are kept in maps, money in cents. It imports nothing of ours.
 */
import { randomInt } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const SCRIPTED_KEY = 'sk_test_scripted_service_77aa';

export interface ScriptedCard {
  readonly id: string;
  bin_id: string;
  status: string;
  cents: number;
  label: string;
  metadata: Readonly<Record<string, string>> | undefined;
  created_at: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

export interface ScriptedWrite {
  /** `create`, `fund`, `withdraw`, `freeze`, `unfreeze`, `terminate`. */
  readonly action: string;
  readonly key: string | undefined;
  /** How often this action was asked for, this time included. */
  readonly times: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Executes it and gives the answer an honest service would give. */
  execute(): Answer;
}

/** What to answer; `lost` closes the connection without an answer. */
export type Script = (write: ScriptedWrite) => Answer | 'lost';

export interface ScriptedService extends AsyncDisposable {
  readonly baseUrl: string;
  readonly cards: Map<string, ScriptedCard>;
  /** Cents. */
  wallet: number;
  script: Script;
  /** What a GET is answered in place of the truth; undefined: the truth. */
  reads: (path: string) => Answer | 'lost' | undefined;
  /** From now on connections are refused, until `back`. */
  gone(): Promise<void>;
  back(): Promise<void>;
  /** Writes that were executed, in order. */
  readonly effects: string[];
  /** Writes that were asked for, in order. */
  readonly asked: string[];
}

const BELOW_GIVEN_PORTS = [15_000, 32_000] as const;

const TIME = '2026-11-20T14:03:11Z';

/** Starts it on a free loopback port, with `card_old`: active, 100 dollars, made a year ago; 1000 dollars in the wallet. */
export async function scriptedService(): Promise<ScriptedService> {
  const cards = new Map<string, ScriptedCard>();
  const old = { bin_id: 'bin_1', status: 'active', cents: 10_000, label: 'old', metadata: {} };
  cards.set('card_old', { id: 'card_old', ...old, created_at: '2025-11-20T14:03:11Z' });
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', chunk => {
      text += chunk;
    });
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
      const key = request.headers['x-idempotency-key'];
      const answer = respond(service, {
        line: `${request.method} ${pathname.replace('/v1', '')}`,
        body: text === '' ? {} : JSON.parse(text),
        page: Number(searchParams.get('page') ?? 1),
        key: typeof key === 'string' ? key : undefined,
      });
      send(response, answer);
    });
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      const listening = () => {
        server.off('error', reject);
        resolve();
      };
      server.listen(port, '127.0.0.1', listening);
    });
  // While it is gone, no server of another test is given its port: those the system gives lie above.
  const listenSomewhere = async () => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await listen(randomInt(...BELOW_GIVEN_PORTS));
      } catch (error) {
        if (tries === 20) throw error;
      }
    }
  };
  const close = async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  };
  await listenSomewhere();
  const { port: given } = server.address() as AddressInfo;
  const service: ScriptedService = {
    baseUrl: `http://127.0.0.1:${given}/v1`,
    cards,
    wallet: 100_000,
    script: write => write.execute(),
    reads: () => undefined,
    gone: close,
    back: () => listen(given),
    effects: [],
    asked: [],
    [Symbol.asyncDispose]: close,
  };
  return service;
}

function send(response: ServerResponse, answer: Answer | 'lost'): void {
  if (answer === 'lost') return void response.destroy();
  // The clock of a test stands still; a real date would be told as a wrong one.
  response.writeHead(answer.status, { 'content-type': 'application/json', date: new Date(TIME).toUTCString() });
  response.end(answer.body === undefined ? '' : JSON.stringify(answer.body));
}

export const shownCard = ({ cents, ...card }: ScriptedCard) => ({ ...card, last4: '4242', balance: cents / 100 });

const no = (status: number, error: string): Answer => ({
  status,
  body: { error, message: `no: ${error}`, code: status },
});

interface Asked {
  readonly line: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly page: number;
  readonly key: string | undefined;
}

function respond(service: ScriptedService, { line, body, page, key }: Asked): Answer | 'lost' {
  const { cards } = service;
  const instead = line.startsWith('GET ') ? service.reads(line.slice(4)) : undefined;
  if (instead !== undefined) return instead;
  if (line === 'GET /wallet') return { status: 200, body: { balance: service.wallet / 100, currency: 'USD' } };
  if (line === 'GET /bins') return { status: 200, body: { data: [{ id: 'bin_1', network: 'visa' }] } };
  if (line === 'GET /cards') return { status: 200, body: { data: page > 1 ? [] : [...cards.values()].map(shownCard) } };
  const [, method, id = '', verb] = /^(\w+) \/cards(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(line) ?? [];
  const card = cards.get(id);
  if (method === 'GET') {
    if (card === undefined) return no(404, 'not_found');
    const details = { card_id: id, pan: '4000000000000002', cvv: '123', exp_month: 8, exp_year: 2029 };
    return { status: 200, body: verb === 'details' ? { ...details, pan: '4000001234564242' } : shownCard(card) };
  }
  if (method !== 'POST') return no(404, 'route_not_found');
  const action = verb ?? 'create';
  service.asked.push(action);
  const times = service.asked.filter(each => each === action).length;
  const execute = () => {
    const answer = action === 'create' ? created(service, body) : changed(service, { action, card, body });
    if (answer.status < 300) service.effects.push(action);
    return answer;
  };
  return service.script({ action, key, times, body, execute });
}

const centsOf = (amount: unknown) => Math.round(Number(amount) * 100);

function created(service: ScriptedService, body: Asked['body']): Answer {
  const cents = centsOf(body['amount']);
  if (service.wallet < cents) return no(400, 'insufficient_funds');
  service.wallet -= cents;
  const card: ScriptedCard = {
    id: `card_${service.cards.size}`,
    bin_id: String(body['bin_id']),
    status: 'active',
    cents,
    label: String(body['label'] ?? ''),
    metadata: (body['metadata'] ?? {}) as Record<string, string>,
    created_at: TIME,
  };
  service.cards.set(card.id, card);
  return { status: 201, body: shownCard(card) };
}

const STATES: Readonly<Record<string, string>> = { freeze: 'frozen', unfreeze: 'active', terminate: 'terminated' };

interface Changing {
  readonly action: string;
  readonly card: ScriptedCard | undefined;
  readonly body: Asked['body'];
}

function changed(service: ScriptedService, { action, card, body }: Changing): Answer {
  if (card === undefined) return no(404, 'not_found');
  const state = STATES[action];
  if (state !== undefined) {
    card.status = state;
    if (action === 'terminate') {
      service.wallet += card.cents;
      card.cents = 0;
    }
    return { status: 200, body: shownCard(card) };
  }
  const moved = action === 'fund' ? centsOf(body['amount']) : -centsOf(body['amount']);
  if (service.wallet < moved) return no(400, 'insufficient_funds');
  if (card.cents + moved < 0) return no(400, 'insufficient_card_funds');
  service.wallet -= moved;
  card.cents += moved;
  const balances = { card_balance: card.cents / 100, wallet_balance: service.wallet / 100 };
  return { status: 200, body: { card_id: card.id, amount: Math.abs(moved) / 100, ...balances } };
}
