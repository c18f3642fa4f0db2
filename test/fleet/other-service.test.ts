/** A fleet at a service that is not ours: other routes and names, no notion of idempotency keys. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OTHER_CONTRACT, OTHER_KEY, otherService } from '../support/other-service.ts';
import { world } from '../support/world.ts';

it('imports, plans empty, adds cards, finds drift, and makes none a second time on another machine', async () => {
  await using service = await otherService();
  await using here = await world();
  await writeFile(join(here.folder, 'other.json'), JSON.stringify(OTHER_CONTRACT));
  const env = {
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_API_KEY: OTHER_KEY,
    CARDWRIGHT_BASE_URL: service.baseUrl,
    CARDWRIGHT_CONTRACT: join(here.folder, 'other.json'),
  };
  const run = (line: string, more = {}) =>
    here.run(line, { env: { ...env, ...more }, onPause: () => undefined, longestPause: 40_000 });
  const good = async (line: string, more = {}) => {
    const ran = await run(`${line} --timeout 41s`, more);
    expect({ line, code: ran.code, err: ran.code === 0 ? '' : ran.err }).toEqual({ line, code: 0, err: '' });
    return ran.out;
  };
  const made = () => service.seen.filter(({ method, path }) => method === 'POST' && path.endsWith('/cards')).length;
  await good('cards create --bin B-1 --amount 20 --label hosting --yes');
  await good('fleet import --where label=hosting --fleet ads');
  await good('fleet plan --exit-code any');
  const file = join(here.folder, 'cards.fleet.yaml');
  const text = (await readFile(file, 'utf8')).replace('per_apply: 0.00', 'per_apply: 90.00');
  await writeFile(file, `${text}  event: {label: "event {n}", count: 3, bin: B-1}\n`);
  await good('fleet plan --out plan.json');
  await good('fleet apply --plan plan.json --yes');
  expect(made()).toBe(4);
  await good('fleet plan --exit-code any');
  // The journal of this machine knows nothing of them; their markers do.
  const other = { CARDWRIGHT_CONFIG_DIR: join(here.folder, 'other') };
  const used = await run('fleet apply --plan plan.json --yes --timeout 41s', other);
  expect([used.code, used.err.includes('is stale')]).toEqual([14, true]);
  await good('fleet plan --exit-code any', other);
  await good('cards freeze C-2');
  const drift = await run('fleet plan --exit-code drift --timeout 41s', other);
  expect([drift.code, drift.out.includes('frozen at the service')], drift.all).toEqual([16, true]);
  expect(made()).toBe(4);
});
