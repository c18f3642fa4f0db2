/**
 * A service that gives card numbers where none belong: under names nobody has heard of, inside texts, as numbers, in
 * lists of thousands and in events. Only `cards details` shows one; everywhere else it is masked, and said.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CARD, json, type Served, serve } from '../client/served.ts';
import { body, elsewhere, post, SECRET, signed, whileListening } from '../support/listening.ts';
import { world } from '../support/world.ts';

const NUMBER = '4000009471306822';
const GROUPED = '4000 0094 7130 6822';
/** Passes the test of check digits, and does not end in the last four digits beside it. */
const DIGITS_ONLY = '4539148803436467';

const STRANGE = {
  acct: NUMBER,
  token_value: Number(NUMBER),
  security: '739',
  deep: { list: [{ 'x-pan': GROUPED }] },
  note: `for PAN${NUMBER}.`,
  seen_ms: '1763647391006',
};
const card = (index: number) => ({
  ...CARD,
  id: index === 0 ? DIGITS_ONLY : `card_${index}`,
  last4: '6822',
  label: `order ${DIGITS_ONLY}`,
  ...STRANGE,
  order_id: DIGITS_ONLY,
  metadata: { po: DIGITS_ONLY, cardwright: `op_${DIGITS_ONLY}0000000000.1` },
});
const CARDS = Array.from({ length: 200 }, (_, index) => card(index));
const TRANSACTIONS = Array.from({ length: 200 }, (_, index) => ({
  id: `txn_${index}`,
  card_id: index === 0 ? DIGITS_ONLY : 'card_1',
  type: 'authorization',
  amount: 5,
  merchant: 'Shop',
  created_at: '2026-11-20T14:03:11Z',
  // Rows before it look harmless, so they may be kept as text.
  memo: index === 150 ? `card ${NUMBER}` : 'thanks',
}));

let service: Served;
beforeAll(async () => {
  service = await serve(({ method, url }, response) => {
    const asked = new URL(url, 'http://x');
    const page = Number(asked.searchParams.get('page') ?? '1');
    const size = Number(asked.searchParams.get('per_page') ?? '25');
    const paged = (rows: readonly object[]) =>
      json(response, 200, { data: rows.slice((page - 1) * size, page * size), meta: { page, total: rows.length } });
    if (method === 'POST') json(response, 201, { ...card(1), ...JSON.parse('{"balance":5}') });
    else if (asked.pathname === '/v1/cards') paged(CARDS);
    else if (asked.pathname === '/v1/transactions') paged(TRANSACTIONS);
    else if (asked.pathname === '/v1/wallet') json(response, 200, { balance: 100, currency: 'USD' });
    else json(response, 200, { ...card(1), id: asked.pathname.split('/').at(-1) });
  });
});
afterAll(() => service.close());

const shown = (text: string) => text.replace(/[ .]/g, '').includes(NUMBER);

describe('a card number under an unfamiliar name', () => {
  it.each([
    'cards get card_1',
    'cards list --all',
    'cards create --bin bin_1 --amount 5 --yes',
    'cards freeze card_1 --yes',
    'tx list --all',
  ])('is in no answer of %s', async line => {
    await using here = await world();
    const { env } = service;
    for (const format of ['json', 'csv', 'table']) {
      const { all, code } = await here.run(`${line} -o ${format}`, { env, onPause: () => undefined });
      expect([format, shown(all)]).toEqual([format, false]);
      if (code === 0) expect(all).toContain('looks like a card number');
    }
  });

  it('goes with the code beside it, and nothing else does', async () => {
    await using here = await world();
    const { env } = service;
    const { out, err } = await here.run('cards get card_1 --json', { env });
    expect(JSON.parse(out)).toMatchObject({
      id: 'card_1',
      last4: '6822',
      label: 'order [redacted]',
      order_id: '[redacted]',
      metadata: { po: '[redacted]', cardwright: `op_${DIGITS_ONLY}0000000000.1` },
      acct: '[redacted]',
      token_value: '[redacted]',
      security: '[redacted]',
      deep: { list: [{ 'x-pan': '[redacted]' }] },
      note: 'for PAN[redacted].',
      seen_ms: '1763647391006',
    });
    expect(err).toContain('warning: cards.get: acct looks like a card number; it is masked');
    expect(err).toContain('warning: cards.get: label looks like a card number; it is masked');
    // An id of digits alone stays what the next command needs.
    const ids = (await here.run('cards list --limit 2 -o id', { env })).out;
    expect(ids).toBe(`${DIGITS_ONLY}\ncard_1\n`);
    expect((await here.run('tx list --limit 1 --json --jq .data[0].card_id', { env })).out).toContain(DIGITS_ONLY);
  });

  it('is not seen in the digits of a path or an address, which no service gets', async () => {
    await using here = await world();
    const rows = join(here.folder, `rows-${DIGITS_ONLY}.csv`);
    await writeFile(rows, 'id,amount\ncard_1,5\n');
    await writeFile(join(here.folder, 'key'), 'sk_test_strange_1\n', { mode: 0o600 });
    const base = service.baseUrl;
    const env = { CARDWRIGHT_PROFILE: '', CARDWRIGHT_API_KEY: '', CARDWRIGHT_BASE_URL: '' };
    for (const line of [
      `login --profile team --base-url ${base} --key-file key`,
      `profiles set team journal postgres://ana@db.example.com/db_${DIGITS_ONLY}`,
      'profiles set team journal local',
      `cards fund --file ${rows} --dry-run --profile team`,
      `audit export --out audit-${DIGITS_ONLY} --profile team`,
    ])
      expect(await here.run(line, { env })).toMatchObject({ code: 0 });
  });

  it('is in no event that is shown, and the bytes are passed on as they were signed', async () => {
    await using here = await world();
    await writeFile(join(here.folder, 'secret'), SECRET);
    const text = body('evt_1', '2026-11-20T14:03:11Z').replace('"balance":5', `"balance":5,"acct":"${NUMBER}"`);
    for (const line of [
      'webhooks listen --secret-file secret --count 1 --json',
      'webhooks listen --secret-file secret --count 1 -o csv',
      'webhooks expect card.created --secret-file secret --json',
    ]) {
      const { all, code } = await whileListening(here, { line, told: elsewhere }, async address => {
        expect((await post(address, text, signed(text))).status).toBe(200);
      });
      expect([line, code, shown(all)]).toEqual([line, 0, false]);
      expect(all).toContain('acct looks like a card number');
    }
  });
});
