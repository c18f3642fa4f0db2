/** Snapshots that are not as they were written: what is shown of them, and how commands that read them end. */
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openEmbedded } from '../../src/sandbox/serving/embedded.ts';
import { world } from '../support/world.ts';

it('are neither compared nor put back: exit 15, with what is damaged', async () => {
  let data = '';
  await using place = await world({
    openSandbox: host => {
      data = host.folders.data;
      return openEmbedded(host, { version: '0.0.0-test' });
    },
  });
  const run = (line: string) => place.run(`sandbox snapshot ${line}`);
  for (const name of ['short', 'other', 'sound']) expect((await run(`save ${name}`)).code).toBe(0);
  const file = (name: string) => join(data, 'sandbox', 'snapshots', `${name}.snapshot`);
  await truncate(file('short'), 20_000);
  const bytes = await readFile(file('other'));
  await writeFile(file('other'), bytes.fill('PREPAID', bytes.indexOf('prepaid'), bytes.indexOf('prepaid') + 7));

  const listed = await run('list --json');
  const rows = (JSON.parse(listed.out) as { data: { name: string; whole: boolean }[] }).data;
  expect([listed.code, rows.map(({ name, whole }) => [name, whole])]).toEqual([
    0,
    // Of the other one every byte must be read, which comparing and restoring do.
    [
      ['other', true],
      ['short', false],
      ['sound', true],
    ],
  ]);
  expect((await place.run('sandbox snapshot list', { terminal: 100 })).out).toContain('COMPLETE');
  for (const name of ['short', 'other']) {
    for (const line of [`diff ${name}`, `diff sound ${name}`, `diff ${name} sound --json`, `restore ${name} --yes`]) {
      const { code, out, err } = await run(line);
      expect([line, code, out]).toEqual([line, 15, '']);
      expect(err).toContain(name === 'short' ? 'the file ends too early' : 'its store is damaged');
    }
  }
  expect((await run('diff sound')).code).toBe(0);
});
