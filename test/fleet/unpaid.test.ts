/** A service that pays nothing back when a card is terminated: the apply says what is missing. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { READ_LAG } from '../../src/contract/spans.ts';
import { json, serve } from '../client/served.ts';
import { type World, world } from '../support/world.ts';

const FILE = `version: 1
fleet: ads
caps: {per_apply: 0, cards: 9}
retired:
  card_1: {since: 2026-01-01}
`;

/** A server before that of the world, which shows its wallet without the 30.00 that a termination has paid back. */
async function unpaying({ sandbox }: World) {
  let hidden = 0;
  const front = await serve(async ({ method, url, headers, body }, response) => {
    const { authorization = '', 'x-idempotency-key': key = '' } = headers;
    const sent = {
      authorization,
      'content-type': 'application/json',
      ...(key !== '' && { 'x-idempotency-key': String(key) }),
    };
    const address = `${new URL(sandbox.url).origin}${url}`;
    const answered = await fetch(address, { method, headers: sent, ...(body !== '' && { body }) });
    const told = (await answered.json()) as { readonly balance: number };
    if (url.endsWith('/terminate')) hidden = 30;
    response.setHeader('date', answered.headers.get('date') ?? '');
    json(response, answered.status, url === '/v1/wallet' ? { ...told, balance: told.balance - hidden } : told);
  });
  const env = { ...front.env, CARDWRIGHT_API_KEY: sandbox.key.expose() };
  return {
    env,
    patient: { env, onPause: () => undefined, longestPause: READ_LAG },
    [Symbol.asyncDispose]: front.close,
  };
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
