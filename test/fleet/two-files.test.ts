/** Two machines apply different files of one fleet at once: the card that is there may be as the other file says. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ask } from '../support/sandbox-http.ts';
import { world } from '../support/world.ts';
import { frontOf } from './front.ts';

const file = (card: string) => `version: 1
fleet: ads
caps: {per_apply: 500.00, cards: 9}
defaults: {bin: bin_1}
cards:
  a: ${card}
`;

type Body = Readonly<Record<string, unknown>>;

async function applied(card: string, other: Body) {
  await using here = await world({ wallet: 500, served: true });
  // Just before the create of this machine arrives, that of another one is there: the same key, and `other` in its body.
  await using front = await frontOf(here, {
    async request(line, headers, text) {
      if (line !== 'POST /v1/cards') return;
      const { spending_limit: _, label: __, ...rest } = JSON.parse(text) as Body;
      const idempotencyKey = String(headers['x-idempotency-key']);
      await ask(here.sandbox, { method: 'POST', path: '/cards', body: { ...rest, ...other }, idempotencyKey });
    },
  });
  await writeFile(join(here.folder, 'cards.fleet.yaml'), file(card));
  const plan = await here.run('fleet plan --out plan.json', front.patient);
  expect({ code: plan.code, err: plan.err }).toEqual({ code: 0, err: '' });
  const apply = await here.run('fleet apply --plan plan.json --yes --json', front.patient);
  const listed = await here.run(`ops show ${JSON.parse(apply.out).page.op} --json`, front.patient);
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
