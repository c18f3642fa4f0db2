import { expect, test } from 'vitest';
import { openEmbedded } from '../../src/sandbox/serving/start.ts';
import { world } from '../support/world.ts';

test('a short id among several is found before any card is changed; one without its mark is a whole id', async () => {
  await using here = await world({ openSandbox: host => openEmbedded(host, { version: '0.0.0-test' }) });
  const made = await here.run('cards create --bin auto --amount 5 -q');
  const other = await here.run('cards create --bin auto --amount 5 -q');
  const [first, second] = [made.out.trim(), other.out.trim()];
  const short = `${second.slice(0, 20)}…`;
  const asked = await here.run(`cards freeze ${first} ${short}`);
  expect([asked.code, asked.err]).toEqual([3, expect.stringContaining(`${short} is ${second} (`)]);
  const absent = await here.run(`cards freeze ${first} ${second.slice(0, -2)}+... --yes`);
  expect([absent.code, absent.err]).toEqual([5, expect.stringContaining('no card has an id that begins with')]);
  expect((await here.run(`cards get ${second.slice(0, 20)}`)).code).toBe(5);
  expect((await here.run(`cards get ${first} --jq .status`)).out.trim()).toBe('active');
});

test('a dry run shows the whole id of a short one; ops show takes a beginning', async () => {
  await using here = await world({ openSandbox: host => openEmbedded(host, { version: '0.0.0-test' }) });
  const card = (await here.run('cards create --bin auto --amount 5 -q')).out.trim();
  const { out, err } = await here.run(`cards fund ${card.slice(0, 12)}… --amount 5 --dry-run --json`);
  expect([JSON.parse(out).path, err]).toEqual([`/cards/${card}/fund`, expect.stringContaining(`is ${card} (`)]);
  const op = (await here.run('ops list -o id')).out.trim();
  expect((await here.run(`ops show ${op.slice(0, 12)}... --jq .op`)).out.trim()).toBe(op);
});
