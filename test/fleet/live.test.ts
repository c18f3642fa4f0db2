/** A fleet of a live account: its plan says so, and nothing is sent before the guards of a live key have passed. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LIVE_ADDRESS, liveFront } from '../support/live-front.ts';
import { ask } from '../support/sandbox-http.ts';
import { world } from '../support/world.ts';

const FILE = `version: 1
fleet: ads
caps: {per_apply: 100.00, cards: 9}
defaults: {bin: bin_1, amount: 30.00}
cards:
  event: {label: "event {n}", count: 2}
`;

/** A fleet file beside a live account; `writes` counts what was sent there besides reads. */
async function liveFleet() {
  const here = await world({ wallet: 500 });
  const front = await liveFront(here.sandbox, here.folder);
  await writeFile(join(here.folder, 'cards.fleet.yaml'), FILE);
  return {
    here,
    env: {
      ...front.env,
      CARDWRIGHT_PROFILE: '',
      CARDWRIGHT_API_KEY: 'sk_live_51f0c2d89ab34e67',
      CARDWRIGHT_BASE_URL: LIVE_ADDRESS,
    },
    writes: () => front.asked.filter(({ method }) => method !== 'GET').length,
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await here[Symbol.asyncDispose]();
    },
  };
}

it('is planned under the live banner, and applied with --live and --yes alone', async () => {
  await using live = await liveFleet();
  const { here, env, writes } = live;
  const plan = await here.run('fleet plan --out plan.json', { env });
  expect({ code: plan.code, err: plan.err }).toEqual({ code: 0, err: 'LIVE · env\n' });
  expect(plan.out).toContain('0 other cards untouched · LIVE · wallet $500.00');
  const apply = 'fleet apply --plan plan.json';
  const refused: [string, number][] = [
    [`${apply}`, 14],
    [`${apply} --yes`, 14],
    [`${apply} --live other --yes`, 14],
    [`${apply} --live env`, 14],
  ];
  for (const [line, code] of refused) {
    const ran = await here.run(line, { env });
    expect({ line, code: ran.code, err: ran.err }).toMatchObject({ line, code });
  }
  expect(writes()).toBe(0);
  const dry = await here.run(`${apply} --live env --dry-run`, { env });
  expect([dry.code, writes()]).toEqual([0, 0]);
  const applied = await here.run(`${apply} --live env --yes`, { env });
  expect({ code: applied.code, writes: writes(), err: applied.err }).toMatchObject({ code: 0, writes: 2 });
  const { json } = await ask(here.sandbox, { path: '/cards' });
  expect(json.data).toHaveLength(2);
  expect((await here.run('fleet plan --exit-code any', { env })).code).toBe(0);
});
