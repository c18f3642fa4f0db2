/** A service that pays nothing back when a card is terminated: the apply says what is missing. */
import { writeFile } from 'node:fs/promises';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { READ_LAG } from '../../src/contract/spans.ts';
import { world } from '../support/world.ts';

const FILE = `version: 1
fleet: ads
caps: {per_apply: 0, cards: 9}
retired:
  card_1: {since: 2026-01-01}
`;

/** The wallet of the service behind it, without the 30.00 that a termination has paid back. */
async function unpaying(target: string) {
  const upstream = new URL(target);
  let hidden = 0;
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const to = { host: upstream.hostname, port: upstream.port, method, path: url };
    const onward = send({ ...to, headers: { ...headers, host: upstream.host } }, async answer => {
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part as Buffer);
      if (url.endsWith('/terminate')) hidden = 30;
      const text = Buffer.concat(parts).toString();
      const isWallet = method === 'GET' && url === '/v1/wallet';
      const wallet = isWallet ? (JSON.parse(text) as { balance: number }) : undefined;
      const shown = wallet === undefined ? text : JSON.stringify({ ...wallet, balance: wallet.balance - hidden });
      const { 'content-length': _, 'transfer-encoding': __, ...rest } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, rest).end(shown);
    });
    request.pipe(onward);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${upstream.pathname}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(closed => server.close(closed));
    },
  };
}

it('plans what is to come back, and tells what did not', async () => {
  await using here = await world({ wallet: 500, served: true });
  await using front = await unpaying(here.sandbox.url);
  const env = {
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_API_KEY: here.sandbox.key.expose(),
    CARDWRIGHT_BASE_URL: front.url,
  };
  const good = async (line: string) => {
    const ran = await here.run(line, { env, onPause: () => undefined, longestPause: READ_LAG });
    expect({ line, code: ran.code }, ran.all).toEqual({ line, code: 0 });
    return ran;
  };
  await good('cards create --bin bin_1 --amount 30 --yes');
  await good('cards freeze card_1 --yes');
  await writeFile(join(here.folder, 'cards.fleet.yaml'), FILE);
  const { out } = await good('fleet plan --allow terminate=1 --allow removals=1 --out plan.json');
  expect(out).toMatch(/terminate +\$30\.00 /);
  const { err } = await good('fleet apply --plan plan.json --yes');
  expect(err).toContain('note: the wallet went from $470.00 to $470.00, $30.00 less than the done steps explain');
});

it('and so does a termination of several cards', async () => {
  await using here = await world({ wallet: 500, served: true });
  await using front = await unpaying(here.sandbox.url);
  const env = {
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_API_KEY: here.sandbox.key.expose(),
    CARDWRIGHT_BASE_URL: front.url,
  };
  for (const label of ['one', 'two']) {
    const made = await here.run(`cards create --bin bin_1 --amount 30 --label ${label} --yes`, { env });
    expect(made.code, made.all).toBe(0);
  }
  const ended = await here.run('cards terminate card_1 card_2 --yes', { env });
  expect(ended.code, ended.all).toBe(0);
  expect(ended.err).toContain('note: card_1 held $30.00, and the wallet still holds $440.00');
});
