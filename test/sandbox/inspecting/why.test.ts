/** Why a purchase was declined: the check that said no, with the values of that moment, for every reason there is. */
import { describe, expect, it } from 'vitest';
import { ask } from '../../support/sandbox-http.ts';
import { type Scene, scene } from '../faults/scene.ts';

interface Told {
  readonly outcome: string;
  readonly decline_reason: string | null;
  readonly checks: readonly { check: string; result: string; left: string | null; right: string | null }[];
}

async function buy(here: Scene, more: object): Promise<Told> {
  const { json } = await here.admin('POST', '/simulate/authorizations', { card_id: here.card, ...more });
  return (await here.admin('GET', `/transactions/${json.transaction_id}/why`)).json;
}

const act = (here: Scene, path: string, body?: object) => ask(here.sandbox, { method: 'POST', path, body });

const CASES: readonly (readonly [string, (here: Scene) => Promise<unknown>, object, string, string])[] = [
  [
    'card_terminated',
    here => act(here, `/cards/${here.card}/terminate`),
    { amount: 1 },
    'status terminated',
    'not terminated',
  ],
  ['card_frozen', here => act(here, `/cards/${here.card}/freeze`), { amount: 1 }, 'status frozen', 'not frozen'],
  [
    'card_expired',
    here => here.admin('PUT', '/clock', { mode: 'frozen', at: '2040-01-01T00:00:00Z' }),
    { amount: 1 },
    'now 2040-01-01T00:00:00Z',
    'expires_at 2029-11-30T23:59:59Z',
  ],
  ['invalid_cvv', async () => undefined, { amount: 1, mismatch: 'cvv' }, 'another cvv', 'the right cvv'],
  ['invalid_expiry', async () => undefined, { amount: 1, mismatch: 'expiry' }, 'another expiry', 'the right expiry'],
  [
    'transaction_limit_exceeded',
    async () => undefined,
    { amount: 99_999 },
    'amount 99999.00',
    'max_transaction 500.00',
  ],
  ['insufficient_funds', async () => undefined, { amount: 499 }, 'amount 499.00', 'available 100.00'],
];

describe('the check that said no', () => {
  it.each(CASES)(
    'is %s, the ones before it held, the rest were not asked',
    async (reason, before, purchase, left, right) => {
      await using here = await scene();
      await before(here);
      const { outcome, decline_reason, checks } = await buy(here, purchase);
      expect([outcome, decline_reason]).toEqual(['declined', reason]);
      const at = checks.findIndex(({ check }) => check === reason);
      expect(checks[at]).toEqual({ check: reason, result: 'fails', left, right });
      expect(checks.map(({ result }) => result)).toEqual(
        checks.map((_, nth) => (nth < at ? 'holds' : nth === at ? 'fails' : 'not_asked')),
      );
    },
  );

  it('counts the month and the categories of the card', async () => {
    await using here = await scene();
    const made = await act(here, '/cards', {
      bin_id: here.bin,
      amount: 50,
      spending_limit: 30,
      allowed_categories: ['5411'],
    });
    const on = { card_id: made.json.id };
    const other = await buy(here, { ...on, amount: 1, mcc: '5814' });
    expect(other.checks.find(({ result }) => result === 'fails')).toMatchObject({
      left: 'mcc 5814',
      right: 'allowed 5411',
    });
    await buy(here, { ...on, amount: 20, mcc: '5411' });
    const over = await buy(here, { ...on, amount: 11, mcc: '5411' });
    expect(over.checks.find(({ result }) => result === 'fails')).toMatchObject({
      check: 'spending_limit_exceeded',
      left: 'used this month 20.00 + amount 11.00',
      right: 'spending_limit 30.00',
    });
  });

  it('is the challenge alone where one failed: no other was asked', async () => {
    await using here = await scene();
    const asked = { card_id: here.card, amount: 5, three_ds: 'challenge' };
    const { challenge_id } = (await here.admin('POST', '/simulate/authorizations', asked)).json;
    let last = '';
    for (let nth = 0; nth < 3; nth += 1) {
      last = (await here.admin('POST', `/simulate/challenges/${challenge_id}/attempts`, { answer: 'wrong' })).json
        .transaction_id;
    }
    const { checks, decline_reason } = (await here.admin('GET', `/transactions/${last}/why`)).json as Told;
    expect(decline_reason).toBe('three_ds_failed');
    expect(checks.map(({ result }) => result)).toEqual([...Array(9).fill('not_asked'), 'fails']);
  });

  it('is what an increment would come to', async () => {
    await using here = await scene();
    const { authorization_id } = (
      await here.admin('POST', '/simulate/authorizations', { card_id: here.card, amount: 60 })
    ).json;
    const { transaction_id } = (
      await here.admin('POST', `/simulate/authorizations/${authorization_id}/increment`, { amount: 450 })
    ).json;
    const { checks } = (await here.admin('GET', `/transactions/${transaction_id}/why`)).json as Told;
    expect(checks.find(({ result }) => result === 'fails')).toMatchObject({
      left: 'authorized 60.00 + amount 450.00',
      right: 'max_transaction 500.00',
    });
  });
});

it('tells records that were never asked about, and that were approved', async () => {
  await using here = await scene();
  const { transaction_id } = (await here.admin('POST', '/simulate/force-posts', { card_id: here.card, amount: 7 }))
    .json;
  const posted = (await here.admin('GET', `/transactions/${transaction_id}/why`)).json as Told;
  expect([posted.outcome, new Set(posted.checks.map(({ result }) => result))]).toEqual([
    'posted',
    new Set(['not_asked']),
  ]);
  const approved = await buy(here, { amount: 3 });
  expect([approved.outcome, new Set(approved.checks.map(({ result }) => result))]).toEqual([
    'approved',
    new Set(['holds']),
  ]);
  const forced = await buy(here, { amount: 3, force_decline: 'insufficient_funds' });
  expect([forced.decline_reason, new Set(forced.checks.map(({ result }) => result))]).toEqual([
    'insufficient_funds',
    new Set(['not_asked']),
  ]);
});
