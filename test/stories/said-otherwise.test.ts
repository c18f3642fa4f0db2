/** The same purchase in other words: the order of a list, a text that looks the same, a value that the service fills in. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { world } from '../support/world.ts';

const CATEGORIES = '--allow-category software --allow-category shopping';
const CREATE = `cards create --bin bin_1 --amount 5 --label Café ${CATEGORIES}`;
/** Each asks for the same card as CREATE. */
const OTHERWISE = [
  CREATE.replace(CATEGORIES, '--allow-category shopping --allow-category software'),
  `${CREATE} --allow-category software`,
  CREATE.replace('Café', 'Cafe\u0301'),
  CREATE.replace('Café', '"Café "'),
  CREATE.replace('--amount 5', '--amount 5.00'),
];

/** A machine with a service that forgets keys. */
async function machine() {
  const sandbox = await startSandbox({ wallet: 1000, ids: 'counted' });
  const proxy = await startFaultProxy({ target: sandbox.url, stripKeys: true });
  const env = {
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_API_KEY: sandbox.key.expose(),
    CARDWRIGHT_BASE_URL: proxy.url,
  };
  const here = await world({ env });
  const lose = () => {
    proxy.fail('POST', /\/cards$/, 'drop-after');
    // The wallet is read before a card is made.
    proxy.fail('GET', /./, 'none', ...Array<'drop-before'>(30).fill('drop-before'));
  };
  const close = async () => {
    for (const each of [here, proxy, sandbox]) await each[Symbol.asyncDispose]();
  };
  return { proxy, here, lose, [Symbol.asyncDispose]: close };
}

test('a card whose answer was lost is not made again in other words', async () => {
  await using at = await machine();
  at.lose();
  const lost = await at.here.run(CREATE);
  expect(lost.code).toBe(11);
  at.proxy.mend();
  const op = /op_\w+/.exec(lost.err)?.[0] ?? '';
  for (const line of OTHERWISE) {
    const again = await at.here.run(line);
    expect({ line, code: again.code }).toEqual({ line, code: 14 });
    expect(again.err, line).toContain(`cardwright ops resume ${op}`);
  }
  const body = { bin_id: 'bin_1', amount: 5, label: 'Café', allowed_categories: ['shopping', 'software'] };
  const raw = await at.here.run('api POST /cards --input - --yes', { stdin: JSON.stringify(body) });
  expect([raw.code, raw.err]).toEqual([14, expect.stringContaining(op)]);
  await writeFile(
    join(at.here.folder, 'rows.csv'),
    'bin_id,amount,label,allowed_categories\nbin_1,5,Café,shopping;software\nbin_1,6,other,\n',
  );
  expect((await at.here.run('cards create --file rows.csv --yes')).code).toBe(14);
  expect(at.proxy.posts()).toHaveLength(1);
  expect((await at.here.run(`ops resume ${op} --yes`)).code).toBe(0);
  // Another limit is another card; now that nothing is unknown it is made.
  expect((await at.here.run(`${CREATE} --spending-limit 100`)).code).toBe(0);
});

test('an intent stands for the card in whichever words', async () => {
  await using at = await machine();
  expect(await at.here.run(`${CREATE} --intent po-1 -q`)).toMatchObject({ code: 0, out: 'card_1\n' });
  for (const line of OTHERWISE.slice(0, 5)) {
    expect(await at.here.run(`${line} --intent po-1 -q`)).toMatchObject({ code: 0, out: 'card_1\n' });
  }
  expect((await at.here.run(`${CREATE} --allow-category travel --intent po-1`)).code).toBe(2);
  expect(at.proxy.posts()).toHaveLength(1);
});
