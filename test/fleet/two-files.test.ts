/** Two machines apply different files of one fleet at once: the card that is there may be as the other file says. */
import { writeFile } from 'node:fs/promises';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { READ_LAG } from '../../src/contract/spans.ts';
import { ask } from '../support/sandbox-http.ts';
import { type World, world } from '../support/world.ts';

const file = (card: string) => `version: 1
fleet: ads
caps: {per_apply: 500.00, cards: 9}
defaults: {bin: bin_1}
cards:
  a: ${card}
`;

type Body = Readonly<Record<string, unknown>>;

interface Front extends AsyncDisposable {
  readonly url: string;
}

/** Just before the create of this machine arrives, that of another one is there: the same key, and `other` in its body. */
async function overtaken({ sandbox }: World, other: Body): Promise<Front> {
  const upstream = new URL(sandbox.url);
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    if (method === 'POST' && url === '/v1/cards') {
      const { spending_limit: _, label: __, ...rest } = JSON.parse(body.toString()) as Body;
      const idempotencyKey = String(headers['x-idempotency-key']);
      await ask(sandbox, { method, path: '/cards', body: { ...rest, ...other }, idempotencyKey });
    }
    const to = { host: upstream.hostname, port: upstream.port, method, path: url, headers };
    const onward = send({ ...to, headers: { ...headers, host: upstream.host } }, answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${upstream.pathname}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(closed => server.close(closed));
    },
  };
}

async function applied(card: string, other: Body) {
  await using here = await world({ wallet: 500, served: true });
  await using front = await overtaken(here, other);
  await writeFile(join(here.folder, 'cards.fleet.yaml'), file(card));
  const env = {
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_API_KEY: here.sandbox.key.expose(),
    CARDWRIGHT_BASE_URL: front.url,
  };
  const patient = { env, onPause: () => undefined, longestPause: READ_LAG };
  const plan = await here.run('fleet plan --out plan.json', patient);
  expect({ code: plan.code, err: plan.err }).toEqual({ code: 0, err: '' });
  const apply = await here.run('fleet apply --plan plan.json --yes --json', patient);
  const listed = await here.run(`ops show ${JSON.parse(apply.out).page.op} --json`, patient);
  expect({ code: listed.code, err: listed.err }).toEqual({ code: 0, err: '' });
  const cards = (await ask(here.sandbox, { path: '/cards' })).json.data as readonly Body[];
  return { apply, cards: cards.length, shown: JSON.parse(listed.out) };
}

const ONE = '{label: "a one", amount: 10, limit: 100}';

it('ends with 13 where the card that is there has another label, limit and amount, and tells its amount', async () => {
  const { apply, cards, shown } = await applied(ONE, { label: 'a two', amount: 30, spending_limit: 900 });
  expect([apply.code, cards], apply.all).toEqual([13, 1]);
  const { data, page } = JSON.parse(apply.out);
  expect(data[0].error).toBe('contract_mismatch');
  expect(JSON.stringify(shown)).toContain(
    'card_1 was made by another apply, but its label is another than was asked for; its spending_limit is another than was asked for; it holds $30.00, and $10.00 was asked for',
  );
  expect([data[0].amount, page.spent]).toEqual([30, 30]);
});
