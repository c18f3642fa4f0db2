import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { world } from '../support/world.ts';

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
