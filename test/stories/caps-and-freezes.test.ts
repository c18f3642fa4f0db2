/** The cap of a month counts every purchase, a policy freezes before it withdraws, and a fleet file removes few cards unasked. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type World, world } from '../support/world.ts';

async function done(here: World, line: string): Promise<string> {
  const { code, out, err } = await here.run(line);
  expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' });
  return out.trim();
}

const fleet = (cards: string) => `version: 1
fleet: ads
caps: { per_apply: 2000.00, cards: 50 }
cards:
${cards}
`;

it('a purchase that was posted without an authorization counts for monthly_cap', async () => {
  await using here = await world({ wallet: 3000 });
  const card = 'one: { amount: 600.00, floor: 100.00, top_up_to: 300.00, monthly_cap: 650.00 }';
  await writeFile(join(here.folder, 'cards.fleet.yaml'), fleet(`  ${card}`));
  await done(here, 'fleet plan --out plan.json');
  await done(here, 'fleet apply --plan plan.json --yes');
  await done(here, 'sandbox simulate force-post --card card_1 --amount 550 -q');
  const { steps } = JSON.parse(await done(here, 'fleet plan --json'));
  expect(steps).toMatchObject([{ do: 'fund', amount: 50 }]);
});

it('policy apply has frozen every card before it withdraws from one', async () => {
  await using here = await world({ wallet: 3000 });
  for (let nth = 0; nth < 4; nth += 1) await done(here, 'cards create --bin bin_1 --amount 50 --label bad -q');
  for (let nth = 0; nth < 4; nth += 1) await done(here, 'cards create --bin bin_1 --amount 50 --label rich -q');
  const policy = `version: 1
rules:
  - { name: rich, cards: { label: rich }, when: { balance: "> 10.00" }, then: { withdraw: { keep: 5.00 } } }
  - { name: bad, cards: { label: bad }, when: { balance: "> 10.00" }, then: freeze }
`;
  await writeFile(join(here.folder, 'policy.yaml'), policy);
  // A freeze takes longer than a withdrawal.
  const slow = { match: { operation: 'cards.freeze' }, phase: 'before', action: { kind: 'delay', ms: 30 }, times: 4 };
  await here.run('sandbox faults add - -q', { stdin: JSON.stringify(slow) });
  await done(here, 'policy apply policy.yaml --max-share 100% --yes -q');
  const requests = JSON.parse(await done(here, 'sandbox requests --all --json')).data as { operation: string }[];
  const changes = requests.map(({ operation }) => operation).filter(name => /freeze|withdraw/.test(name));
  // The newest request comes first.
  const [freezes, withdrawals] = [Array(4).fill('cards.freeze'), Array(4).fill('cards.withdraw')];
  expect(changes).toEqual([...withdrawals, ...freezes]);
});
