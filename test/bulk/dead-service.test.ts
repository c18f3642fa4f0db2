/** A run of 200 rows before a service that dies with the first of them: it is left alone after a few requests (A15). */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { firstOf } from '../support/first-of.ts';
import { isWhole } from '../support/whole.ts';
import { world } from '../support/world.ts';

type Death = 'connections are refused' | 'every request is cut' | 'a proxy answers 502' | 'nothing ever answers';
const ROWS = 200;
const MOST_REQUESTS = 40;

interface Dying extends AsyncDisposable {
  readonly url: string;
  /** Requests that arrived from the first create on; where nobody listens any more, those that were tried. */
  hits(): number;
}

/** Answers reads until the first create comes. */
async function dying(death: Death, alive: number): Promise<Dying> {
  let [hits, creates] = [0, 0];
  const sockets = new Set<Socket>();
  const answers: Record<string, object> = {
    '/v1/bins': { data: [{ id: 'bin_1', network: 'visa' }] },
    '/v1/wallet': { balance: 100_000, currency: 'USD' },
  };
  const server: Server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    if (request.method === 'POST') creates += 1;
    const json = { 'content-type': 'application/json' };
    if (creates <= alive && request.method === 'POST') {
      request.resume();
      const id = `card_${creates}`;
      const card = { id, bin_id: 'bin_1', network: 'visa', last4: '4242', status: 'active', balance: 1, metadata: {} };
      const made = { ...card, created_at: new Date().toISOString() };
      return void response.writeHead(201, json).end(JSON.stringify(made));
    }
    if (creates === 0) return void response.writeHead(200, json).end(JSON.stringify(answers[path] ?? {}));
    hits += 1;
    if (death === 'every request is cut') request.socket.destroy();
    else if (death === 'a proxy answers 502') response.writeHead(502, { 'content-type': 'text/html' }).end('<html>');
    else if (death === 'connections are refused') {
      server.close();
      for (const socket of sockets) socket.destroy();
    }
  });
  server.on('connection', socket => sockets.add(socket));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // A connection that is cut before its request was read counts as well, so it is the sender who is asked.
  let tried = 0;
  const onTried = (message: unknown) => {
    const { request } = message as { request?: { method: string } };
    if (tried > 0 || request?.method === 'POST') tried += 1;
  };
  const channels = ['undici:client:sendHeaders', 'undici:client:connectError'];
  for (const channel of channels) subscribe(channel, onTried);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    hits: () => (death === 'connections are refused' ? tried : hits),
    async [Symbol.asyncDispose]() {
      for (const channel of channels) unsubscribe(channel, onTried);
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const deaths: readonly Death[] = [
  'connections are refused',
  'every request is cut',
  'a proxy answers 502',
  'nothing ever answers',
];

test.each(deaths.flatMap(death => firstOf([8, 64], { isWhole }).map(workers => ({ death, workers }))))(
  '$death, $workers workers',
  async ({ death, workers }) => {
    await using service = await dying(death, 0);
    const { code, out, err } = await runOf(service, workers, death);
    expect(service.hits(), err).toBeGreaterThanOrEqual(8);
    expect(service.hits()).toBeLessThanOrEqual(MOST_REQUESTS);
    const outcomes = out.trimEnd().split('\n').slice(1);
    expect(outcomes.length).toBe(ROWS);
    expect(code).toBe(outcomes.some(line => line.includes(',unknown,')) ? 11 : 12);
    expect(err).toMatch(/try: cardwright ops resume op_/);
  },
);

test('a service that dies in the middle of a run is left alone once what was on the wire has failed', async () => {
  await using service = await dying('every request is cut', 100);
  const { code, out } = await runOf(service, 8, 'every request is cut');
  expect(code).toBe(11);
  expect(out.split(',done,').length - 1).toBe(100);
  expect(service.hits()).toBeLessThanOrEqual(MOST_REQUESTS);
});

async function runOf(service: Dying, workers: number, death: Death) {
  const env = {
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_BASE_URL: service.url,
    CARDWRIGHT_API_KEY: 'sk_test_dead00000000',
  };
  await using here = await world({ env });
  const rows = Array.from({ length: ROWS }, (_, index) => `bin_1,1,row ${index + 1}`);
  await writeFile(join(here.folder, 'rows.csv'), `bin_id,amount,label\n${rows.join('\n')}\n`);
  const timeout = death === 'nothing ever answers' ? ' --timeout 1s' : '';
  return await here.run(`cards create --file rows.csv --yes -o csv --concurrency ${workers}${timeout}`);
}
