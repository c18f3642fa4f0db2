import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { world } from '../support/world.ts';

it('a run of money that stopped half-done stands in overview, fails its --check, and doctor names it', async () => {
  await using here = await world({ wallet: 1000 });
  await here.run('cards create --bin bin_1 --amount 5 -q');
  await here.run('books sync -q');
  const rows = Array.from({ length: 8 }, () => 'card_1,2').join('\n');
  await writeFile(join(here.folder, 'rows.csv'), `card_id,amount\n${rows}\n`);
  const stop = new AbortController();
  const ran = await here.run('cards fund --file rows.csv --yes --concurrency 1', {
    signal: stop.signal,
    onOut: () => stop.abort(),
  });
  expect(ran.code).not.toBe(0);
  const { ops, attention } = JSON.parse((await here.run('overview --json')).out);
  expect(ops).toMatchObject({ unknown: 0, open: 1 });
  const [op] = JSON.parse((await here.run('ops list --json')).out).data as { op: string }[];
  expect(attention[0]).toMatchObject({ kind: 'open_rows', severity: 'error', op: op?.op });
  expect(attention[0].text).toMatch(/^stopped on 2026-11-20 with \d rows not sent; \$16\.00 in all$/);
  const checked = await here.run('overview --check');
  expect(checked).toMatchObject({ code: 15, err: expect.stringContaining(`try: cardwright ops resume ${op?.op}`) });
  const found = JSON.parse((await here.run('doctor --json')).out).data as { check: string }[];
  expect(found.find(({ check }) => check === 'operations')).toMatchObject({
    status: 'warn',
    says: '1 stopped with rows that were not sent',
    hint: `cardwright ops resume ${op?.op}`,
  });
});

it('an intent of a row of a run that stopped, typed alone: its own card, and no other row is sent', async () => {
  await using here = await world({ wallet: 1000 });
  const rows = ['a', 'b', 'c', 'd'].map(label => `bin_1,5,${label},order-${label}`);
  await writeFile(join(here.folder, 'rows.csv'), `bin_id,amount,label,intent\n${rows.join('\n')}\n`);
  const stop = new AbortController();
  let shown = '';
  await here.run('cards create --file rows.csv --yes --concurrency 1 -o ndjson', {
    signal: stop.signal,
    onOut: text => {
      shown += text;
      if (shown.includes('"row":2')) stop.abort();
    },
  });
  const line = (label: string) => `cards create --bin bin_1 --amount 5 --label ${label} --intent order-${label} --json`;
  const again = await here.run(line('b'));
  expect({ code: again.code, err: again.err }).toMatchObject({ code: 0 });
  expect(JSON.parse(again.out)).toMatchObject({ label: 'b', intent: { name: 'order-b', repeated: true } });
  expect((await here.run(line('d'))).code).toBe(14);
  const labels = JSON.parse((await here.run('cards list --json')).out).data.map(
    ({ label }: { label: string }) => label,
  );
  expect(labels).not.toContain('d');
  expect(new Set(labels).size).toBe(labels.length);
});
