/** Waiting for codes, cards and transactions while something happens in the sandbox. */

import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { json, serve } from '../client/served.ts';
import { firstOf } from '../support/first-of.ts';
import { ask } from '../support/sandbox-http.ts';
import { isWhole } from '../support/whole.ts';
import { type World, world } from '../support/world.ts';

const CARD = 'cards create --bin bin_1 --amount 100 -q';

async function withCard(): Promise<World> {
  const here = await world();
  expect((await here.run(CARD)).code).toBe(0);
  return here;
}

const opens = (here: World, merchant = 'Acme Ltd', amount = 59) =>
  here.run(`sandbox simulate challenge --card card_1 --amount ${amount} --merchant "${merchant}" -q`);

/** Runs things in the pauses, one a pause. */
function inPauses(...steps: readonly (() => Promise<unknown>)[]) {
  const left = [...steps];
  const pauses: number[] = [];
  return {
    pauses,
    async onPause(ms: number) {
      pauses.push(ms);
      await left.shift()?.();
    },
  };
}

describe('3ds wait', () => {
  it('prints the code alone once the challenge opens, asking once a second at most', async () => {
    await using here = await withCard();
    const nothing = async () => undefined;
    const { pauses, onPause } = inPauses(nothing, nothing, () => opens(here));
    const requests = async () => {
      const { out } = await here.run('sandbox requests --json');
      return (JSON.parse(out).data as { operation: string }[]).map(({ operation }) => operation);
    };
    const before = (await requests()).filter(name => name === 'cards.get').length;
    const { code, out } = await here.run('3ds wait --card card_1 --print otp', { onPause });
    expect(code).toBe(0);
    expect(out).toMatch(/^\d{6}\n$/);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_000);
    const asked = await requests();
    // One look a pause; the card itself was looked up once, in a pause of its own.
    expect(asked.filter(name => name === 'challenges.list')).toHaveLength(pauses.length);
    expect(asked.filter(name => name === 'cards.get')).toHaveLength(before + 1);
  });
});

describe('which code 3ds wait takes', () => {
  it('is never that of an earlier test, which it names without its code', async () => {
    await using here = await withCard();
    await opens(here, 'Old shop');
    await here.run('sandbox clock advance --by 33s');
    const wait = '3ds wait --card card_1 --json';
    const alone = await here.run(`${wait} --wait-timeout 2s`, { onPause: () => undefined });
    expect({ code: alone.code, out: alone.out }).toEqual({ code: 8, out: '' });
    expect(alone.err).toContain('not taken because it was open before: tds_1  card_1  Old shop  $59.00');
    expect(alone.err).not.toMatch(/\b\d{6}\b/);
    const { onPause } = inPauses(() => opens(here, 'New shop'));
    expect(JSON.parse((await here.run(wait, { onPause })).out)).toMatchObject({ merchant: 'New shop' });
  });
});

describe('a wait while the service is in trouble', () => {
  const CHALLENGE = {
    id: 'tds_9',
    card_id: 'card_9',
    merchant: 'Acme',
    amount: 59,
    otp: '048213',
    status: 'pending',
    expires_at: '2026-11-20T14:08:11Z',
  };
  const ANSWERS: Readonly<Record<string, unknown>> = {
    '3ds': { data: [CHALLENGE] },
    cards: { id: 'card_9', status: 'active', balance: 5, last4: '4242' },
    wallet: { balance: 5, currency: 'USD' },
    transactions: { data: [{ id: 'txn_9', type: 'settlement', amount: 5, card_id: 'card_9' }] },
  };

  const TROUBLES: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
    'a 429': response => response.writeHead(429).end(),
    'a 429 that asks for two seconds': response => response.writeHead(429, { 'retry-after': '2' }).end(),
    'a 503': response => json(response, 503, { error: 'overloaded', message: 'later', code: 503 }),
    'a reset': response => response.socket?.resetAndDestroy(),
  };

  /** Runs a line against a service whose first requests end in trouble. */
  async function against(line: string, trouble: string, requests: number) {
    await using here = await world();
    let left = requests;
    await using service = await serve((seen, response) => {
      response.sendDate = false;
      left -= 1;
      if (left >= 0) return void TROUBLES[trouble]?.(response);
      const word = Object.keys(ANSWERS).find(each => seen.url.includes(each)) ?? '';
      json(response, 200, ANSWERS[word]);
    });
    return await here.run(line, { env: { ...service.env, CARDWRIGHT_PROFILE: undefined }, onPause: () => undefined });
  }

  const WAITS = [
    '3ds wait --print otp --wait-timeout 10m',
    'wait card card_9 --until status=active --wait-timeout 10m',
    "wait wallet --until 'balance>=5' --wait-timeout 10m",
    'wait tx --type settlement --wait-timeout 10m',
    '3ds watch --card card_9 --count 1',
    'tx tail --last 1 --count 1',
  ];

  it.each(firstOf(WAITS, { isWhole }))('goes on from the first look on: %s', async line => {
    for (const trouble of Object.keys(TROUBLES)) {
      const { code, out, err } = await against(line, trouble, 7);
      expect({ trouble, code, said: err.includes('still waiting') }).toEqual({ trouble, code: 0, said: true });
      expect(out).not.toBe('');
    }
  });
});

describe('3ds watch', () => {
  it('ends with 0 after the wished count, and gives objects', async () => {
    await using here = await withCard();
    const { onPause } = inPauses(() => opens(here));
    const { code, out } = await here.run('3ds watch --count 1 -o ndjson', { onPause });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ id: 'tds_1', status: 'pending' });
  });
});

describe('tx tail', () => {
  const told = async ({ sandbox }: World, path: string, body: object) =>
    expect((await ask(sandbox, { method: 'POST', path: `/_sandbox/v1/${path}`, body })).status).toBeLessThan(300);
  const pays = (here: World, amount: number) =>
    told(here, 'simulate/authorizations', { card_id: 'card_1', amount, merchant: 'Shop' });

  it('shows what is new, oldest first, over as many pages as it takes', async () => {
    await using here = await withCard();
    await pays(here, 1);
    const many = async () => {
      for (let amount = 2; amount <= 31; amount += 1) {
        await told(here, 'clock/advance', { by: '1s' });
        await pays(here, amount / 10);
      }
    };
    const { onPause } = inPauses(many);
    const { code, out } = await here.run('tx tail --card card_1 --count 30 -o ndjson', { onPause });
    const amounts = out
      .trim()
      .split('\n')
      .map(line => (JSON.parse(line) as { amount: number }).amount);
    expect(code).toBe(0);
    expect(amounts).toEqual(Array.from({ length: 30 }, (_, index) => (index + 2) / 10));
  });
});

describe('wait', () => {
  it('tx: waits for one that fits', async () => {
    await using here = await withCard();
    const pay = (amount: number) =>
      here.run(`sandbox simulate authorize --card card_1 --amount ${amount} --merchant A -q`);
    await pay(5);
    const { onPause } = inPauses(() => pay(7));
    const { out } = await here.run("wait tx --card card_1 --until 'amount=7' --json", { onPause });
    expect(JSON.parse(out)).toMatchObject({ amount: 7 });
    const none = await here.run('wait tx --type refund --wait-timeout 2s', { onPause: () => undefined });
    expect(none.code).toBe(8);
    expect(none.err).toContain('no refund came within 2s');
  });
});
