/** An answer that shows its effect is told as done when a reading shows it too (docs/design/reliability.md, section 3). */
import { expect, test } from 'vitest';
import { stoppedBy } from '../../src/cli/run.ts';
import { READ_LAG } from '../../src/contract/spans.ts';
import { json, type Served, serve } from '../client/served.ts';
import { world } from '../support/world.ts';

interface Plan {
  /** Readings after the write that still show the card as before. */
  readonly lag?: number;
  /** Cents that a purchase takes between the answer and the first reading. */
  readonly spent?: number;
  /** How often readings after the write fail. */
  readonly failing?: number;
  readonly onWrite?: () => void;
}

/** Two cards of $100, and a wallet of $1,000. The answer of a write always shows it in full. */
function books({ lag = 0, spent = 0, failing = 0, onWrite }: Plan): Promise<Served> {
  const now = { cents: 10_000, wallet: 100_000, status: 'active' };
  let [stale, broken] = [{ ...now }, 0];
  let left = 0;
  const card = ({ cents, status }: typeof now) => ({
    ...{ id: 'card_1', bin_id: 'bin_1', last4: '4242', network: 'visa', label: '', metadata: {} },
    ...{ status, balance: cents / 100, created_at: '2026-01-20T14:03:11Z', expires_at: '2029-11-30T23:59:59Z' },
  });
  return serve(({ method, url, body }, response) => {
    if (method === 'GET') {
      if (broken > 0) {
        broken -= 1;
        return json(response, 404, { error: 'not_found', message: 'no card', code: 404 });
      }
      const shown = left > 0 ? stale : now;
      if (url.endsWith('/wallet')) return json(response, 200, { balance: shown.wallet / 100, currency: 'USD' });
      left -= 1;
      return json(response, 200, card(shown));
    }
    stale = { ...now };
    [left, broken] = [lag, failing];
    onWrite?.();
    if (url.endsWith('/freeze')) {
      now.status = 'frozen';
      return json(response, 200, card(now));
    }
    const { amount } = JSON.parse(body) as { amount: number };
    now.cents += amount * 100;
    now.wallet -= amount * 100;
    const [cardBalance, walletBalance] = [now.cents / 100, now.wallet / 100];
    now.cents -= spent;
    const answer = { card_id: 'card_1', amount, card_balance: cardBalance, wallet_balance: walletBalance };
    return json(response, 200, answer);
  });
}

/** Without pauses, but where one is to be stopped. */
const QUICK = { onPause: () => undefined, longestPause: READ_LAG };

async function run(line: string, plan: Plan, more: { readonly stdin?: string; readonly signal?: AbortSignal } = {}) {
  const service = await books(plan);
  await using here = await world();
  const env = {
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_API_KEY: 'sk_test_9c1e77aa03d24bfe',
    CARDWRIGHT_BASE_URL: service.baseUrl,
  };
  const ran = await here.run(`${line} --json`, { env, ...(more.signal ? {} : QUICK), ...more });
  await service.close();
  return { ...ran, asked: service.seen.map(({ method, url }) => `${method} ${url.replace('/v1', '')}`) };
}

const FUND = 'cards fund card_1 --amount 25';
const FILE = { stdin: 'card_id,amount\ncard_1,25\n' };

test('fund reads card and wallet before and after, a row of a file the card alone after it', async () => {
  const one = await run(FUND, {});
  expect({ code: one.code, err: one.err }).toMatchObject({ code: 0 });
  const written = one.asked.indexOf('POST /cards/card_1/fund');
  expect(one.asked.slice(0, written).sort()).toEqual(['GET /cards/card_1', 'GET /wallet']);
  expect(one.asked.slice(written + 1).sort()).toEqual(['GET /cards/card_1', 'GET /wallet']);
  const row = await run('cards fund --file - --yes', {}, FILE);
  expect({ code: row.code, err: row.err }).toMatchObject({ code: 0 });
  expect(row.asked.slice(row.asked.indexOf('POST /cards/card_1/fund') + 1, -1)).toEqual(['GET /cards/card_1']);
});

test.each([
  ['fund', FUND],
  ['freeze', 'cards freeze card_1'],
])(
  '%s: a replica that lags behind for two readings is waited for, one that stays behind is not believed',
  async (_, line) => {
    expect((await run(line, { lag: 2 })).code).toBe(0);
    const { code, err } = await run(line, { lag: 100 });
    expect({ code, err }).toMatchObject({
      code: 11,
      err: expect.stringContaining('the answer shows the effect, but '),
    });
  },
);

test('what a purchase took meanwhile is no doubt, and the balance that was read is told', async () => {
  const { code, out } = await run(FUND, { spent: 300 });
  expect({ code, balance: JSON.parse(out).card_balance }).toEqual({ code: 0, balance: 122 });
  expect((await run('cards fund --file - --yes', { spent: 300 }, FILE)).code).toBe(0);
  // More than came: the card alone cannot tell it from a purchase without the transfer.
  expect((await run('cards fund --file - --yes', { spent: 2_800 }, FILE)).code).toBe(11);
});

test('whoever stops the run while the write is in the air is told what came of it', async () => {
  const stopping = new AbortController();
  const onWrite = () => stopping.abort(stoppedBy('interrupted'));
  const { out } = await run('cards fund --file - --yes', { onWrite }, { ...FILE, signal: stopping.signal });
  expect(JSON.parse(out).data).toMatchObject([{ row: 1, outcome: 'done' }]);
});
