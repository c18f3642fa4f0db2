import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPolicy } from '../../src/books/policy-file.ts';
import { readYaml } from '../../src/terminal/yaml-text.ts';
import { world } from '../support/world.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/policy.yaml');

test('the rules of the example hold for the cards that they speak of, and change only those', async () => {
  await using here = await world({ data: 'demo' });
  const { rules } = readPolicy(readYaml(await readFile(EXAMPLE, 'utf8')), EXAMPLE);
  expect(rules.length).toBeGreaterThan(8);
  await here.run('sandbox clock advance --by 40d');
  await here.run('cards create --bin bin_1 --amount 900');
  for (let nth = 0; nth < 5; nth += 1) await here.run('sandbox simulate authorize --card card_13 --amount 999');
  for (const amount of [300, 250]) {
    const hold = await here.run(`sandbox simulate authorize --card card_13 --amount ${amount} --merchant FAST -q`);
    await here.run(`sandbox simulate settle ${hold.out.trim()}`);
  }
  const { code, out } = await here.run(`policy check ${EXAMPLE} --json`);
  const { findings } = JSON.parse(out) as { findings: { rule: string; card_id: string; then: string | null }[] };
  const held = (rule: string) => findings.filter(each => each.rule === rule).map(({ card_id }) => card_id);
  expect(code).toBe(15);
  expect([held('declines'), held('too-fast'), held('no-label')]).toEqual([['card_13'], ['card_13'], ['card_13']]);
  expect(held('unused').length).toBeGreaterThan(3);
  expect(held('idle-money').length).toBeGreaterThan(1);
  for (const { rule, then } of findings) {
    const remedy = rules.find(({ name }) => name === rule)?.then;
    expect(then).toBe(remedy?.do ?? null);
  }
  const refused = await here.run(`policy apply ${EXAMPLE} --yes`);
  expect(refused.code).toBe(14);
  const done = await here.run(`policy apply ${EXAMPLE} --max-share 100% --yes --json`);
  expect(done.code).toBe(0);
  const again = await here.run(`policy check ${EXAMPLE} --fail-on none --json --jq .findings[].then`);
  expect(again.out.replace(/null\s*/g, '')).toBe('');
});

test('the file of a profile is read when it is set, and when no other is named', async () => {
  await using here = await world();
  await here.run('login --profile team --base-url https://api.example.com/v1 --key-stdin', {
    stdin: 'sk_test_0123456789abcdef\n',
  });
  const missing = await here.run('profiles set team policy nowhere.yaml');
  expect(missing.code).toBe(2);
  const set = await here.run(`profiles set team policy ${EXAMPLE} --json`);
  expect(JSON.parse(set.out)).toMatchObject({ settings: { policy: EXAMPLE } });
  // The copy of this account is not there, so the file was read first.
  const { err } = await here.run('-p team policy check --offline');
  expect(err).toContain('no mirror of this account');
});
