import { expect, test } from 'vitest';
import { openEmbedded } from '../../src/sandbox/serving/start.ts';
import { world } from '../support/world.ts';

test('a cut id among several is found, however long it is, before any card is changed', async () => {
  await using here = await world({ openSandbox: host => openEmbedded(host, { version: '0.0.0-test' }) });
  const made = await here.run('cards create --bin auto --amount 5 -q');
  const other = await here.run('cards create --bin auto --amount 5 -q');
  const [first, second] = [made.out.trim(), other.out.trim()];
  for (const cut of [second.slice(0, -1), second.slice(0, 20)]) {
    const asked = await here.run(`cards freeze ${first} ${cut}`);
    expect([asked.code, asked.err]).toEqual([3, expect.stringContaining(`${cut} is ${second} (`)]);
  }
  const absent = await here.run(`cards freeze ${first} ${second.slice(0, -2)}+ --yes`);
  expect([absent.code, absent.err]).toEqual([5, expect.stringContaining('no card has an id that begins with')]);
  expect((await here.run(`cards get ${first} --jq .status`)).out.trim()).toBe('active');
});

test('a dry run shows the whole id of a marked one, and says of another that it did not look; explain takes a beginning', async () => {
  await using here = await world({ openSandbox: host => openEmbedded(host, { version: '0.0.0-test' }) });
  const card = (await here.run('cards create --bin auto --amount 5 -q')).out.trim();
  const short = card.slice(0, 12);
  const shown = async (id: string) => {
    const { out, err } = await here.run(`cards fund ${id} --amount 5 --dry-run --json`);
    return [JSON.parse(out).path, err];
  };
  expect(await shown(short)).toEqual([
    `/cards/${short}/fund`,
    expect.stringContaining(`note: ${short} is shown as typed: a dry run does not look it up.`),
  ]);
  expect(await shown(`${short}…`)).toEqual([`/cards/${card}/fund`, expect.stringContaining(`is ${card} (`)]);
  expect(await shown(card)).toEqual([`/cards/${card}/fund`, '']);
  const op = (await here.run('ops list -o id')).out.trim();
  expect((await here.run(`explain ${op.slice(0, 12)} --jq .op`)).out.trim()).toBe(op);
});
