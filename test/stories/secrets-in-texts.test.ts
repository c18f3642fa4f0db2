/** A key or a webhook secret pasted into a free text is refused before anything is written or sent. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { world } from '../support/world.ts';

const TAIL = 'SECRETSECRET12';
const KEY = `sk_live_${TAIL}`;
const HOOK = `whsec_${TAIL}`;

async function everyFile(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => entry.isFile() && !entry.name.startsWith('given'));
  return (await Promise.all(files.map(file => readFile(join(file.parentPath, file.name), 'latin1')))).join('\n');
}

const BODY = JSON.stringify({ bin_id: 'bin_1', amount: 5, label: KEY }).replace('_live_', '\\u005flive_');

it.each([
  [`cards create --bin bin_1 --amount 5 --label ${KEY}`],
  [`cards create --bin bin_1 --amount 5 --label "the key ${HOOK}"`],
  [`cards create --bin bin_1 --amount 5 --metadata key=${KEY}`],
  [`cards create --bin bin_1 --amount 5 --metadata ${HOOK}=1`],
  [`cards create --bin bin_1 --amount 5 --idempotency-key ${KEY}`],
  ['cards create --file given.csv --yes'],
  ['cards create --file given.ndjson --yes'],
  [`api POST /cards -f label=${KEY} -f bin_id=bin_1 -F amount:=5 --yes`],
  ['api POST /cards --input given.json --yes'],
  [`api POST /elsewhere/%73k_live_${TAIL} --yes`],
  [`api POST /elsewhere -F "list:=[\\"${HOOK}\\"]" --yes`],
])('%s', async line => {
  await using here = await world();
  await writeFile(join(here.folder, 'given.csv'), `bin_id,amount,label,metadata.note\nbin_1,5,ok,${KEY}\n`);
  await writeFile(join(here.folder, 'given.ndjson'), `{"bin_id":"bin_1","amount":5,"label":"${HOOK}"}\n`);
  await writeFile(join(here.folder, 'given.json'), BODY);
  const { code, all } = await here.run(line);
  expect({ code, all }).toMatchObject({ code: 2, all: expect.stringContaining('API key or a webhook secret') });
  expect(all).not.toContain(TAIL);
  expect(await everyFile(here.folder)).not.toContain(TAIL);
  expect((await here.run('cards list --json')).out).not.toContain('"id"');
});

it('leaves words alone that only begin like one, and the secret of a webhook that is told as one', async () => {
  await using here = await world();
  for (const label of ['sk_test_a', 'task_test_migration', 'whsec']) {
    const { code, err } = await here.run(`cards create --bin bin_1 --amount 5 --label ${label} -q`);
    expect({ label, code, err }).toMatchObject({ code: 0 });
  }
  const created = await here.run('webhooks create --url https://example.com/a --event "*" --secret-stdin', {
    stdin: `whsec_chosen_by_me_0123456789\n`,
  });
  expect(created).toMatchObject({ code: 0 });
});

it('a folder in place of an exported file is refused before the sandbox is asked', async () => {
  await using here = await world();
  const { code, all } = await here.run('sandbox import / --yes --json');
  expect({ code, all }).toMatchObject({ code: 2, all: expect.stringMatching(/it is a folder.*"not_sent"/s) });
});

it('a seed of the sandbox is none, whatever its digits', async () => {
  await using here = await world();
  const made = await here.run('sandbox reset --seed 32347184260229 --yes');
  expect(made.code).toBe(0);
  const saved = await here.run('sandbox snapshot save before --json');
  expect([saved.code, saved.err, JSON.parse(saved.out).seed]).toEqual([0, '', 32347184260229]);
  const listed = await here.run('sandbox snapshot list --json');
  expect([listed.err, JSON.parse(listed.out).data[0].seed]).toEqual(['', 32347184260229]);
});
