import { expect, test } from 'vitest';
import { journalServer } from '../postgres/journal-server.ts';
import { missing } from '../postgres/server.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { team } from './team.ts';

const without = missing() !== undefined;
const CREATE = 'cards create --bin auto --amount 5 --yes --json';

async function ready(server: Awaited<ReturnType<typeof journalServer>>, t: Awaited<ReturnType<typeof team>>) {
  const admin = await t.machine('postgres');
  expect((await admin.run(`journal init ${server.url('postgres')} --key`)).code).toBe(0);
  return admin;
}

test.skipIf(without)(
  'a database that goes away between sending and recording leaves it unknown, and anybody settles it',
  async () => {
    await using server = await journalServer();
    await using t = await team(server);
    await using proxy = await startFaultProxy({ target: t.sandbox.url });
    const through = { CARDWRIGHT_BASE_URL: proxy.url };
    const admin = await t.machine('postgres', through);
    expect((await admin.run(`journal init ${server.url('postgres')} --key`)).code).toBe(0);
    const [ana, bo] = [await t.machine('ana', through), await t.machine('bo', through)];
    proxy.fail('POST', /\/cards$/, 'held-answer');
    const running = ana.run(CREATE, { onPause: () => undefined });
    await proxy.posted(1);
    await server.stop('SIGKILL');
    proxy.release();
    const ended = await running;
    expect([11, 14]).toContain(ended.code);
    expect(ended.err).not.toContain('"outcome":"not_sent"');
    expect(await t.cards()).toHaveLength(1);
    await server.start();
    // The lease of the process that could not let it go is over.
    await server.sql('update op set lease = 0');
    const { data } = JSON.parse((await bo.run('ops list --json')).out);
    expect(data).toHaveLength(1);
    const settled = await bo.run(`ops resume ${data[0].op} --reason "ana has gone home" --json`);
    expect(settled.code).toBe(0);
    expect(await t.cards()).toHaveLength(1);
  },
);

test.skipIf(without)('a database that was put back and has gone on since is noticed by who saw more', async () => {
  await using server = await journalServer();
  await using t = await team(server);
  await ready(server, t);
  const [ana, bo] = [await t.machine('ana'), await t.machine('bo')];
  expect((await bo.run(CREATE)).code).toBe(0);
  await server.backup();
  expect((await ana.run(`${CREATE} --intent lost`)).code).toBe(0);
  await server.restore();
  // Bo has seen nothing of what is gone, and takes the lines beyond what ana has seen.
  for (let more = 0; more < 2; more += 1) expect((await bo.run(CREATE)).code).toBe(0);
  const refused = await ana.run(`${CREATE} --intent lost`);
  expect(refused.code).toBe(14);
  expect(refused.err).toContain('journal accept');
  expect(await t.cards()).toHaveLength(4);
  expect((await ana.run('journal accept --yes')).code).toBe(0);
  expect((await ana.run(CREATE)).code).toBe(0);
  expect((await bo.run(CREATE)).code).toBe(0);
});

test.skipIf(without)(
  'a new journal in the place of one that a machine knows is refused until it is accepted',
  async () => {
    await using server = await journalServer();
    await using t = await team(server);
    await ready(server, t);
    const ana = await t.machine('ana');
    expect((await ana.run(`${CREATE} --intent order`)).code).toBe(0);
    await server.sql('drop schema cardwright cascade');
    await ready(server, t);
    const refused = await ana.run(`${CREATE} --intent order`);
    expect(refused.code).toBe(14);
    expect(refused.err).toContain('journal accept');
    expect(await t.cards()).toHaveLength(1);
    expect((await ana.run('journal accept --yes')).code).toBe(0);
    expect((await ana.run(CREATE)).code).toBe(0);
  },
);
