/** A service that pays nothing back when a card is terminated: the apply says what is missing. */
import { writeFile } from 'node:fs/promises';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { READ_LAG } from '../../src/contract/spans.ts';
import { type World, world } from '../support/world.ts';

const FILE = `version: 1
fleet: ads
caps: {per_apply: 0, cards: 9}
retired:
  card_1: {since: 2026-01-01}
`;

/** A server before that of the world, which shows its wallet without the 30.00 that a termination has paid back. */
async function unpaying({ sandbox }: World) {
  const upstream = new URL(sandbox.url);
  let hidden = 0;
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url = '' } = incoming;
    const headers = { ...incoming.headers, host: upstream.host };
    const to = { host: upstream.hostname, port: upstream.port, method, path: url, headers };
    const body = await textOf(incoming);
    send(to, async answered => {
      const { 'content-length': _, 'transfer-encoding': __, ...others } = answered.headers;
      const text = await textOf(answered);
      if (url.endsWith('/terminate')) hidden = 30;
      const balance = JSON.parse(text).balance - hidden;
      outgoing.sendDate = false;
      outgoing.writeHead(answered.statusCode ?? 502, others);
      outgoing.end(url === '/v1/wallet' ? JSON.stringify({ ...JSON.parse(text), balance }) : text);
    }).end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const env = {
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_API_KEY: sandbox.key.expose(),
    CARDWRIGHT_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  };
  return {
    env,
    patient: { env, onPause: () => undefined, longestPause: READ_LAG },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(closed => server.close(closed));
    },
  };
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
}

it('plans what is to come back, and tells what did not', async () => {
  await using here = await world({ wallet: 500, served: true });
  await using front = await unpaying(here);
  const good = async (line: string) => {
    const ran = await here.run(line, front.patient);
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
  await using front = await unpaying(here);
  for (const label of ['one', 'two']) {
    const made = await here.run(`cards create --bin bin_1 --amount 30 --label ${label} --yes`, front);
    expect(made.code, made.all).toBe(0);
  }
  const ended = await here.run('cards terminate card_1 card_2 --yes', front);
  expect(ended.code, ended.all).toBe(0);
  expect(ended.err).toContain('note: card_1 held $30.00, and the wallet still holds $440.00');
});
