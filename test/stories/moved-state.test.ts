/** The state folder is moved away, emptied or another one, while the configuration knows that there was one. */
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ScriptedWorld, scriptedWorld } from '../support/scripted-world.ts';
import { world } from '../support/world.ts';

const FUND = 'cards fund card_old --amount 25';

/** A fund whose answer was lost, so that its journal is all that stands between it and a second one. */
async function withUnknownFund(s: ScriptedWorld) {
  s.service.script = () => 'lost';
  expect((await s.run(FUND)).code).toBe(11);
  s.service.script = execute => execute();
  const [state, away] = ['state', 'away'].map(name => join(s.here.folder, name)) as [string, string];
  return { state, away, known: join(s.here.folder, 'config', 'known-states.json') };
}

test('no money moves without the journal that was there, until the new folder is accepted', async () => {
  await using s = await scriptedWorld();
  const { state, away } = await withUnknownFund(s);
  await rename(state, away);
  for (const line of [FUND, 'cards create --bin bin_1 --amount 5', 'cards terminate card_old --yes']) {
    const { code, error } = await s.run(line);
    expect([line, code, error['outcome'], error['hint']]).toEqual([line, 14, 'not_sent', 'cardwright journal accept']);
    expect(error['message']).toContain(`the state folder ${state} holds no journal of earlier operations`);
  }
  expect(s.service.effects()).toEqual([]);
  expect((await s.run('cards list')).code).toBe(0);
  // Put back, the journal says what is open.
  await rm(state, { recursive: true, force: true });
  await rename(away, state);
  expect((await s.run(FUND)).error['message']).toContain('without a trustworthy answer');
  // Accepted, a new one begins, and is known from then on.
  await rename(state, away);
  expect((await s.run(FUND)).code).toBe(14);
  expect((await s.run('journal accept --yes')).code).toBe(0);
  expect((await s.run(FUND)).code).toBe(0);
  expect(s.service.effects()).toEqual(['fund']);
  await rm(state, { recursive: true });
  expect((await s.run('cards fund card_old --amount 26')).code).toBe(14);
});

test('a journal that was put back is refused, and what it lacks is named before it is accepted', async () => {
  await using s = await scriptedWorld();
  const [state, backup] = ['state', 'backup'].map(name => join(s.here.folder, name)) as [string, string];
  const create = (intent: string) => s.run(`cards create --bin bin_1 --amount 5 --intent ${intent}`);
  expect((await create('kept')).code).toBe(0);
  await cp(state, backup, { recursive: true });
  const lost = await create('lost');
  expect(lost.code).toBe(0);
  await rm(state, { recursive: true });
  await cp(backup, state, { recursive: true });
  expect((await create('lost')).error['hint']).toBe('cardwright journal accept');
  const accepted = await s.run('journal accept --yes');
  expect([accepted.code, accepted.err]).toEqual([0, expect.stringContaining(JSON.parse(lost.out).id)]);
  expect((await s.run('journal check')).code).toBe(0);
  expect((await create('kept')).code).toBe(0);
  expect(s.service.effects()).toEqual(['create', 'create']);
});

test('once a copy is accepted, the folder that it was made of buys nothing more', async () => {
  await using s = await scriptedWorld();
  const [state, away, copy] = ['state', 'away', 'copy'].map(name => join(s.here.folder, name)) as [
    string,
    string,
    string,
  ];
  const create = (intent: string) => s.run(`cards create --bin bin_1 --amount 5 --intent ${intent}`);
  expect((await create('kept')).code).toBe(0);
  await rename(state, away);
  await cp(away, state, { recursive: true });
  expect((await s.run('journal accept --yes')).code).toBe(0);
  expect((await create('one')).code).toBe(0);
  await rename(state, copy);
  await rename(away, state);
  const { code, error } = await create('one');
  expect([code, error['hint']]).toEqual([14, 'cardwright journal accept']);
  expect(s.service.effects()).toEqual(['create', 'create']);
});

test('only a damaged journal is set aside, and the empty one in its place is used at once', async () => {
  await using s = await scriptedWorld();
  const journal = join(s.here.folder, 'state', 'journal.db');
  const create = () => s.run('cards create --bin bin_1 --amount 5 --intent one');
  expect((await create()).code).toBe(0);
  expect((await s.run('journal accept --set-aside --yes')).code).toBe(14);
  expect((await create()).code).toBe(0);
  expect(s.service.effects()).toEqual(['create']);
  await writeFile(journal, Buffer.alloc(8192, 7));
  for (const end of ['-wal', '-shm']) await rm(`${journal}${end}`, { force: true });
  expect((await create()).code).toBe(15);
  expect((await s.run('journal accept --set-aside --yes')).code).toBe(0);
  expect((await create()).code).toBe(0);
  expect(s.service.effects()).toEqual(['create', 'create']);
});

test('a copy is checked before it is accepted, and where a limit of the day is set a person accepts it', async () => {
  await using here = await world({ served: true, wallet: 500, env: { CARDWRIGHT_PROFILE: 'team' } });
  const login = `login --profile team --base-url ${here.sandbox.url} --key-stdin`;
  await here.run(login, { stdin: here.sandbox.key.expose(), env: { CARDWRIGHT_PROFILE: '' } });
  expect((await here.run('profiles set team max_per_day 30')).code).toBe(0);
  expect((await here.run('cards create --bin auto --amount 25 --yes')).code).toBe(0);
  const [state, away] = ['state', 'away'].map(name => join(here.folder, name)) as [string, string];
  await rename(state, away);
  await cp(away, state, { recursive: true });
  expect((await here.run('cards create --bin auto --amount 5 --yes')).code).toBe(14);
  expect((await here.run('journal check')).code).toBe(0);
  expect((await here.run('journal accept --yes')).code).toBe(14);
  expect((await here.run('journal accept', { terminal: 100, typed: ['y'] })).code).toBe(0);
  expect((await here.run('cards create --bin auto --amount 5 --yes')).code).toBe(0);
});

test('what is open in a journal that was put back is looked for before anything is sent', async () => {
  await using s = await scriptedWorld();
  const [state, backup, rows] = ['state', 'backup', 'rows.csv'].map(name => join(s.here.folder, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(rows, 'card_id,amount\ncard_old,1\ncard_old,2\n');
  s.service.script = () => ({ status: 402, body: { error: 'insufficient_funds', message: 'no' } });
  expect((await s.run(`cards fund --file ${rows} --yes`)).code).not.toBe(0);
  await cp(state, backup, { recursive: true });
  s.service.script = execute => execute();
  const [op] = JSON.parse((await s.run('ops list')).out).data;
  expect((await s.run(`ops resume ${op.op}`)).code).toBe(0);
  expect(s.service.effects()).toEqual(['fund', 'fund']);
  await rm(state, { recursive: true });
  await cp(backup, state, { recursive: true });
  expect((await s.run('journal accept --yes')).code).toBe(0);
  expect((await s.run(`ops resume ${op.op}`)).code).toBe(11);
  expect(s.service.effects()).toEqual(['fund', 'fund']);
});

test('another folder is named with the one that was used before', async () => {
  await using s = await scriptedWorld();
  const { state, known } = await withUnknownFund(s);
  const text = await readFile(known, 'utf8');
  await rm(state, { recursive: true });
  await writeFile(known, text.replaceAll(state, '/elsewhere/state'));
  expect((await s.run(FUND)).error['message']).toContain('the one that was used before is /elsewhere/state');
  await writeFile(known, 'not JSON');
  const { code, error } = await s.run(FUND);
  expect([code, error['hint']]).toEqual([14, 'cardwright journal accept']);
});

test('it holds for one machine, for keys of a service, and where the configuration can be written', async () => {
  await using s = await scriptedWorld();
  const { state, known } = await withUnknownFund(s);
  await rm(state, { recursive: true });
  expect((await s.here.run('--sandbox cards create --bin auto --amount 5')).code).toBe(0);
  await writeFile(known, (await readFile(known, 'utf8')).replaceAll('"desk"', '"another"'));
  expect((await s.run(FUND)).code).toBe(0);
  await rm(known);
  await mkdir(known);
  expect((await s.run('cards fund card_old --amount 26')).code).toBe(0);
});
