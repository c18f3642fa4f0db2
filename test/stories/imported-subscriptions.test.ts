/** The export of a colleague brings his webhook subscriptions along: whoever takes it in is told before and after. */
import { expect, it } from 'vitest';
import { world } from '../support/world.ts';

it('an import says how many addresses this sandbox will deliver to', async () => {
  await using place = await world();
  const run = async (line: string, code: number, options = {}) => {
    const ran = await place.run(line, options);
    expect([line, ran.code, code === 0 ? ran.err : '']).toEqual([line, code, '']);
    return ran;
  };
  await run('sandbox export none.snapshot', 0);
  for (const path of ['one', 'two']) await run(`webhooks create --url https://example.com/${path} --event '*' -q`, 0);
  await run('sandbox export two.snapshot', 0);
  const asked = await run('sandbox import two.snapshot', 3);
  expect(asked.err).toContain('by two.snapshot, and deliver to the addresses of its 2 webhook subscriptions');
  expect((await run('sandbox import none.snapshot', 3)).err).not.toContain('webhook');
  const shown = await run('sandbox import two.snapshot --yes', 0, { terminal: 100 });
  expect(shown.out).toContain('2 subscriptions are active: their addresses get what this sandbox delivers');
  expect(JSON.parse((await run('sandbox import two.snapshot --yes --json', 0)).out)).toMatchObject({
    webhooks_active: 2,
  });
  const without = await run('sandbox import none.snapshot --yes', 0, { terminal: 100 });
  expect(without.out).not.toContain('subscription');
  for (const file of ['missing.snapshot', '.'])
    expect((await run(`sandbox import ${file}`, 3)).err).not.toContain('webhook');
});
