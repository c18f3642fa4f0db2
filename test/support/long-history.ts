/** One long story over HTTP that touches every kind of object; what was answered, text by text. */

import type { Store } from '../../src/sandbox/store/queue.ts';
import { ask, type Got, type Served } from './sandbox-http.ts';
import { tablesOf } from './test-store.ts';

const ADMIN = '/_sandbox/v1';

export interface Teller {
  post(path: string, body?: unknown, idempotencyKey?: string): Promise<Got>;
  simulate(path: string, body?: unknown): Promise<Got>;
  get(path: string): Promise<Got>;
  /** `METHOD path`, status, request id and body of every answer so far. */
  readonly answers: readonly string[];
}

export function teller(served: Served): Teller {
  const answers: string[] = [];
  const keep = async (method: string, path: string, more: { body?: unknown; idempotencyKey?: string } = {}) => {
    const got = await ask(served, { method, path, ...more });
    answers.push(`${method} ${path} ${got.status} ${got.headers['x-request-id']}\n${got.text}`);
    return got;
  };
  return {
    answers,
    get: path => keep('GET', path),
    post: (path, body, idempotencyKey) =>
      keep('POST', path, { body, ...(idempotencyKey !== undefined && { idempotencyKey }) }),
    simulate: (path, body) => keep('POST', `${ADMIN}/simulate/${path}`, { body }),
  };
}

/** Cards in every state, holds, settlements, refunds, challenges and deposits, open and ended. */
export async function tellLongHistory(served: Served): Promise<Teller> {
  const told = teller(served);
  const { post, simulate, get } = told;
  const id = async (made: Promise<Got>, field = 'id'): Promise<string> => (await made).json[field];
  const bin_id = (await get('/bins')).json.data[0].id;
  await post('/webhooks', { url: 'https://example.com/hook', events: ['*'] });
  const card = (amount: number, more: object = {}) => id(post('/cards', { bin_id, amount, ...more }, `k-${amount}`));
  const hold = (card_id: string, amount: number, more: object = {}) =>
    id(simulate('authorizations', { card_id, amount, ...more }), 'authorization_id');

  const first = await card(100, { auto_freeze_at: 40, label: 'first' });
  const half = await hold(first, 30);
  await simulate(`authorizations/${half}/settle`, { amount: 10, final: false });
  await simulate(`authorizations/${half}/increment`, { amount: 5 });
  await simulate(`authorizations/${half}/refund`, { amount: 4 });
  await hold(first, 35, { mcc: '7011' });
  await simulate('authorizations', { card_id: first, amount: 1 });
  await post(`/cards/${first}/unfreeze`);
  await post(`/cards/${first}/fund`, { amount: 20 }, 'fund');
  await post(`/cards/${first}/fund`, { amount: 20 }, 'fund');
  await post(`/cards/${first}/withdraw`, { amount: 3 });

  const second = await card(50);
  await hold(second, 20);
  const over = await hold(second, 10);
  await post(`/cards/${second}/terminate`);
  await simulate(`authorizations/${over}/settle`, { amount: 12 });
  await simulate(`authorizations/${over}/refund`);

  const third = await card(60);
  const asked = await id(
    simulate('authorizations', { card_id: third, amount: 9, three_ds: 'challenge' }),
    'challenge_id',
  );
  await simulate(`challenges/${asked}/attempts`, { answer: 'wrong' });
  await simulate(`challenges/${asked}/attempts`, { answer: 'right' });
  await simulate('challenges', { card_id: third, amount: 7, then: 'authorize' });
  await simulate('force-posts', { card_id: third, amount: 2 });
  await simulate('refunds', { card_id: third, amount: 1 });
  await post('/cards', { bin_id, amount: 5_000 }, 'too much');

  await simulate('deposits', { currency: 'btc', amount: 300 });
  await simulate('deposits', { currency: 'usdt', amount: 40 });
  const lost = await id(simulate('deposits', { currency: 'eth', amount: 70, confirmations: 'manual' }), 'deposit_id');
  await simulate(`deposits/${lost}/confirmations`, { add: 3 });
  await simulate(`deposits/${lost}/fail`);
  return told;
}

/** All rows of a store's tables as text, but those that tell how a store came about and who asks it. */
export async function everyRow(service: { readonly store: Store }) {
  const skipped = ['meta', 'rate_hits', 'advances'];
  return service.store.read(sql => {
    const tables = tablesOf(sql);
    const rows: Record<string, readonly string[]> = {};
    for (const { name } of tables.filter(table => !skipped.includes(table.name))) {
      const all = sql.all(`select * from ${name}`);
      // The number of the last request is no part of what happened.
      const kept = all.filter(row => row['name'] !== 'req');
      // How long it took, and by which key it was asked, differs from run to run.
      rows[name] = kept.map(row => JSON.stringify({ ...row, took: undefined, key_last4: undefined })).sort();
    }
    return rows;
  });
}
