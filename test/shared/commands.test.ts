/** Machines of a team before one account, over one shared journal: what they do at once, and what each loss leaves. */
import { expect, test } from 'vitest';
import { createClient } from '../../src/library/client.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { type JournalServer, journalServer, type PEOPLE } from '../postgres/journal-server.ts';
import { missing } from '../postgres/server.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { ask } from '../support/sandbox-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { isWhole } from '../support/whole.ts';
import { errorOf, type World, world } from '../support/world.ts';

let made = 0;

async function team(server: JournalServer, { wallet = 100 } = {}) {
  const sandbox = await startSandbox({ wallet, ids: 'counted', rateLimits: false });
  const machines: World[] = [];
  const service = { CARDWRIGHT_API_KEY: sandbox.key.expose(), CARDWRIGHT_BASE_URL: sandbox.url };
  const machine = async (
    role: keyof typeof PEOPLE | 'postgres',
    more: Readonly<Record<string, string | undefined>> = {},
  ) => {
    made += 1;
    const env = { CARDWRIGHT_PROFILE: '', ...service, CARDWRIGHT_JOURNAL_URL: server.url(role), USER: role, ...more };
    // Ids of ops are those of the whole database.
    const one = await world({ env, countFrom: 10_000 * made });
    machines.push(one);
    return one;
  };
  return {
    machine,
    sandbox,
    cards: async () =>
      (await ask(sandbox, { path: '/cards?per_page=100' })).json.data as {
        id: string;
        balance: number;
        status: string;
      }[],
    async [Symbol.asyncDispose]() {
      for (const each of machines) await each[Symbol.asyncDispose]();
      await sandbox.stop();
    },
  };
}

Object.assign(globalThis, { CARDWRIGHT_VERSION: '0.0.0-test' });

const without = missing() !== undefined;
/** Told in the whole run alone: journal/rules and the histories of test/simulation hold what they rest on. */
const wholeAlone = without || !isWhole;
const CREATE = 'cards create --bin auto --amount 5 --yes --json';

test.skipIf(without)(
  'two commands set it up, two machines make one purchase of one name, and a check finds what SQL changed',
  async () => {
    await using server = await journalServer();
    await using t = await team(server);
    const admin = await t.machine('postgres');
    const init = await admin.run(`journal init ${server.url('postgres')} --key`);
    expect(init).toMatchObject({ code: 0 });
    expect(init.out).toContain('listed');
    const [ana, bo] = [await t.machine('ana'), await t.machine('bo')];
    const both = await Promise.all([ana.run(`${CREATE} --intent order-1`), bo.run(`${CREATE} --intent order-1`)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(new Set(both.map(({ out }) => JSON.parse(out).id)).size).toBe(1);
    expect(await t.cards()).toHaveLength(1);
    expect((await bo.run(CREATE)).code).toBe(0);
    const { data } = JSON.parse((await ana.run('ops list --json')).out);
    expect(data).toHaveLength(2);
    const status = JSON.parse((await ana.run('journal status --json')).out);
    expect(status).toMatchObject({ shared: true, key_listed: true, unfinished: 0, locked_by: [] });
    expect((await ana.run('journal check --json')).code).toBe(0);
    await server.sql('set local role cardwright_operator');
    await server.sql("update change set state = 'refused'");
    const check = await ana.run('journal check --json');
    expect(check.code).toBe(15);
    expect(check.out).toContain('was changed since it ended');
  },
);

test.skipIf(without)(
  'a key that is not listed sends nothing, at a terminal it is asked, and limits of the journal hold for everybody',
  async () => {
    await using server = await journalServer();
    await using t = await team(server);
    const ana = await t.machine('ana');
    const refused = await ana.run(CREATE);
    expect(refused.code).toBe(14);
    expect(refused.err).toContain('journal init');
    expect(await t.cards()).toEqual([]);
    expect((await ana.run('cards create --bin auto --amount 5 --yes', { terminal: 100, typed: ['y'] })).code).toBe(0);
    expect((await ana.run(CREATE)).code).toBe(0);
    const [admin, bo] = [await t.machine('postgres'), await t.machine('bo')];
    expect((await admin.run(`journal init ${server.url('postgres')} --limit max_per_day=12.00`)).code).toBe(0);
    const over = await bo.run(CREATE);
    expect(over.code).toBe(14);
    expect(over.err).toContain('max_per_day of journal');
    const shown = { name: 'max_per_day', value: '$12.00', source: expect.stringMatching(/^journal of /) };
    expect(JSON.parse((await bo.run('whoami --json')).out)).toMatchObject({ limits: [shown] });
    expect((await bo.run('whoami')).out).toContain('max_per_day');
    expect((await bo.run('doctor')).out).toContain('max_per_day is $12.00, set by journal of');
    const away = { env: { CARDWRIGHT_JOURNAL_URL: `${server.url('bo')}.away` } };
    const unread = await bo.run('whoami --json', away);
    expect(JSON.parse(unread.out)).toMatchObject({
      limits: [],
      limits_unread: expect.stringContaining('cannot be read'),
    });
    const { code, out } = await bo.run('doctor', away);
    expect([code, /limits\tfail\t.*cannot be read/.test(out)]).toEqual([15, true]);
    expect((await ana.run(`journal init ${server.url('ana')} --limit max_per_day=none`)).code).toBe(14);
    // What no journal keeps asks it all the same; freezing waits for nothing.
    const [{ id } = { id: '' }] = await t.cards();
    expect((await admin.run(`journal init ${server.url('postgres')} --limit read_only=true`)).code).toBe(0);
    expect((await bo.run(`cards fund ${id} --amount 1 --yes`)).code).toBe(14);
    expect((await bo.run(`cards freeze ${id} --yes`)).code).toBe(0);
    expect((await bo.run(`cards unfreeze ${id} --yes`)).code).toBe(14);
    await using folder = await temporaryFolder();
    const shared = { journal: server.url('bo'), journalFolder: folder.path };
    await using client = createClient({ baseUrl: t.sandbox.url, apiKey: t.sandbox.key.expose(), ...shared });
    await expect(client.send('cards.unfreeze', { card_id: id })).rejects.toMatchObject({ kind: 'guarded' });
    expect(await t.cards()).toMatchObject([{ status: 'frozen' }, { status: 'active' }]);
    expect((await admin.run(`journal init ${server.url('postgres')} --limit read_only=none`)).code).toBe(0);
    expect((await admin.run(`journal init ${server.url('postgres')} --limit max_per_day=oops`)).code).toBe(2);
  },
);

test.skipIf(without)('one asks, another approves at a terminal, and it is sent once', async () => {
  await using server = await journalServer();
  await using t = await team(server);
  const [ana, bo] = [await t.machine('ana'), await t.machine('bo')];
  const typed = (...words: string[]) => ({ terminal: 100, typed: words });
  const keyOf = async (machine: typeof bo) => {
    expect((await machine.run('ops keys create', typed('correct horse', 'correct horse'))).code).toBe(0);
    return (await machine.run('ops keys show -q')).out.trim();
  };
  const admin = await t.machine('postgres');
  const line = await keyOf(bo);
  expect(line.startsWith('bo ed25519 ')).toBe(true);
  const init = `journal init ${server.url('postgres')} --key --limit approve_above=20.00 --approver '${line}' --approver '${await keyOf(ana)}'`;
  const said = await admin.run(init);
  expect(said.code).toBe(0);
  // In a pipe a sentence is a line.
  expect(said.out.split('\n').length).toBeGreaterThan(3);
  expect(said.out).toContain('\nThe API key of this run is listed for the account');
  const create = 'cards create --bin auto --amount 25 --yes --intent big --json';
  const held = await ana.run(create);
  expect(held.code).toBe(17);
  const { op, approval } = errorOf(held);
  expect(approval).toMatchObject({ id: op, needed: 1, have: 0 });
  expect(JSON.parse((await bo.run('ops list --json')).out).data).toMatchObject([{ op, state: 'pending' }]);
  // Neither without a terminal, nor by --yes, nor by who has asked.
  expect((await bo.run(`ops approve ${op}`)).code).toBe(3);
  expect((await bo.run(`ops approve ${op} --yes`, typed('25.00', 'correct horse'))).code).toBe(2);
  expect((await bo.run(`ops approve ${op}`, typed('24.00'))).code).toBe(3);
  expect((await bo.run(`ops approve ${op}`, typed('25.00', 'wrong'))).code).toBe(3);
  const own = await ana.run(`ops approve ${op}`, typed());
  expect([own.code, own.all]).toEqual([14, expect.stringMatching(/ana has asked for it/)]);
  expect(own.all).not.toContain('Approve this?');
  expect((await ana.run(create)).code).toBe(17);
  expect(await t.cards()).toEqual([]);
  expect((await bo.run(`ops approve ${op}`, typed('25.00', 'correct horse'))).code).toBe(0);
  const sent = await ana.run(create);
  expect(sent).toMatchObject({ code: 0 });
  const again = await ana.run(create);
  expect(again).toMatchObject({ code: 0 });
  expect(JSON.parse(again.out).id).toBe(JSON.parse(sent.out).id);
  expect(await t.cards()).toHaveLength(1);
  expect((await bo.run(`ops approve ${op}`, typed('25.00', 'correct horse'))).code).toBe(2);
  expect((await ana.run('journal check')).code).toBe(0);
});

test.skipIf(without)('a machine that worked alone brings its names, and finishes first what it has begun', async () => {
  await using server = await journalServer();
  await using t = await team(server);
  const admin = await t.machine('postgres');
  expect((await admin.run(`journal init ${server.url('postgres')} --key`)).code).toBe(0);
  const ana = await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: undefined });
  const shared = { env: { CARDWRIGHT_JOURNAL_URL: server.url('ana') } };
  const first = await ana.run(`${CREATE} --intent order-7`);
  expect(first.code).toBe(0);
  const again = await ana.run(`${CREATE} --intent order-7`, shared);
  expect(again.code).toBe(0);
  expect(JSON.parse(again.out).id).toBe(JSON.parse(first.out).id);
  const bo = await t.machine('bo', { CARDWRIGHT_JOURNAL_URL: undefined });
  const rows = { stdin: 'bin_id,amount,intent\nauto,5,order-7\nauto,5,order-8\n' };
  const own = await bo.run('cards create --file - --yes --json', rows);
  expect(own.code).toBe(0);
  const ofBo = { env: { CARDWRIGHT_JOURNAL_URL: server.url('bo') } };
  // A name that is taken leads to the first card, and the other one of the file to its own.
  const [one, other] = ['order-7', 'order-8'].map(name => `${CREATE} --intent ${name}`);
  expect(JSON.parse((await bo.run(one ?? '', ofBo)).out).id).toBe(JSON.parse(first.out).id);
  expect(own.out).toContain(JSON.parse((await bo.run(other ?? '', ofBo)).out).id);
  expect((await bo.run('journal check', ofBo)).code).toBe(0);
  // Beside the shared journal nothing is begun here.
  for (const line of [CREATE, `${CREATE} --journal local`]) {
    const beside = await ana.run(line);
    expect([line, beside.code]).toEqual([line, 14]);
    expect(beside.err).toContain('shared journal');
  }
  expect((await ana.run(CREATE, shared)).code).toBe(0);
  expect(await t.cards()).toHaveLength(4);
});

test.skipIf(without)('behind a restore nothing is sent until it is accepted, and what was lost is named', async () => {
  await using server = await journalServer();
  await using t = await team(server);
  const admin = await t.machine('postgres');
  expect((await admin.run(`journal init ${server.url('postgres')} --key`)).code).toBe(0);
  const [ana, bo] = [await t.machine('ana'), await t.machine('bo')];
  expect((await bo.run(CREATE)).code).toBe(0);
  await server.backup();
  const lost = JSON.parse((await ana.run(`${CREATE} --intent lost`)).out).id;
  expect((await bo.run(CREATE)).code).toBe(0);
  await server.restore();
  for (const machine of [ana, bo]) {
    const refused = await machine.run(`${CREATE} --intent lost`);
    expect(refused.code).toBe(14);
    expect(refused.err).toContain('journal accept');
    expect((await machine.run('journal status', { terminal: 100 })).err).toContain('journal accept');
  }
  expect((await ana.run('cards list')).code).toBe(0);
  expect((await ana.run(`cards freeze ${lost} --yes`)).code).toBe(0);
  expect((await ana.run(`cards unfreeze ${lost} --yes`)).code).toBe(14);
  const check = await ana.run('journal check --json');
  expect(check.code).toBe(15);
  expect(JSON.parse(check.out).strangers.map((each: { card_id: string }) => each.card_id)).toContain(lost);
  expect((await ana.run('journal accept')).code).toBe(3);
  const accepted = await ana.run('journal accept --yes');
  expect(accepted.code).toBe(0);
  expect(accepted.err).toContain(lost);
  expect((await ana.run('journal check')).code).toBe(0);
  expect((await ana.run(CREATE)).code).toBe(0);
  expect((await bo.run(CREATE)).code).toBe(0);
  expect(await t.cards()).toHaveLength(5);
});

test.skipIf(without)('an account whose key was replaced stays within the shared journal, with either key', async () => {
  await using server = await journalServer();
  await using t = await team(server);
  const [admin, ana] = [await ready(server, t), await t.machine('ana')];
  const { id } = JSON.parse((await ana.run(CREATE)).out);
  const replaced = { CARDWRIGHT_API_KEY: 'sk_test_another_key_of_the_account_0001' };
  expect((await admin.run(`journal init ${server.url('postgres')} --key`, { env: replaced })).code).toBe(0);
  // The sandbox knows the first key alone; what counts is that the journal was used with the other.
  expect((await ana.run(`cards unfreeze ${id} --yes`, { env: replaced })).code).toBe(4);
  for (const env of [{}, replaced]) {
    const past = await ana.run(CREATE.replace('auto', 'bin_1'), { env: { ...env, CARDWRIGHT_JOURNAL_URL: undefined } });
    expect([past.code, past.err]).toEqual([14, expect.stringContaining('is kept in the shared journal')]);
  }
  expect(await t.cards()).toHaveLength(1);
});

test.skipIf(without)('while the database is away changes are refused, and reading and freezing go on', async () => {
  await using server = await journalServer();
  await using t = await team(server);
  const admin = await t.machine('postgres');
  expect((await admin.run(`journal init ${server.url('postgres')} --key`)).code).toBe(0);
  const ana = await t.machine('ana');
  const { id } = JSON.parse((await ana.run(CREATE)).out);
  await server.stop('SIGKILL');
  const refused = await ana.run(CREATE, { onPause: () => undefined });
  expect(refused.code).toBe(14);
  expect((await ana.run('cards list')).code).toBe(0);
  const wrong = { env: { CARDWRIGHT_JOURNAL_URL: 'mysql://db/cards' } };
  expect((await ana.run(`cards freeze ${id}`, wrong)).code).toBe(0);
  expect((await ana.run(`cards unfreeze ${id}`, { onPause: () => undefined })).code).toBe(14);
  expect((await t.cards()).map(({ status }) => status)).toEqual(['frozen']);
  const overview = await ana.run('overview --json');
  expect([overview.code, overview.err]).toEqual([0, expect.stringContaining('ops are not shown')]);
  expect(JSON.parse(overview.out).cards).toMatchObject({ frozen: 1 });
  await server.start();
  expect((await ana.run(CREATE)).code).toBe(0);
  expect(await t.cards()).toHaveLength(2);
});

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

test.skipIf(wholeAlone)('a database that was put back and has gone on since is noticed by who saw more', async () => {
  await using server = await journalServer();
  await using t = await team(server);
  await ready(server, t);
  const [ana, bo] = [await t.machine('ana'), await t.machine('bo')];
  expect((await bo.run(CREATE)).code).toBe(0);
  await server.backup();
  expect((await ana.run(`${CREATE} --intent lost`)).code).toBe(0);
  await server.restore();
  // Bo has seen nothing of what is gone, buys the same anew, and takes the lines beyond what ana has seen.
  for (const name of [' --intent lost', '']) expect((await bo.run(`${CREATE}${name}`)).code).toBe(0);
  // What the name stands for there is another card than ana was told.
  const refused = await ana.run(`${CREATE} --intent lost`);
  expect(refused.code).toBe(14);
  expect(refused.err).toContain('journal accept');
  expect(await t.cards()).toHaveLength(4);
  expect((await ana.run('journal accept --yes')).code).toBe(0);
  expect((await ana.run(CREATE)).code).toBe(0);
  expect((await bo.run(CREATE)).code).toBe(0);
});

test.skipIf(wholeAlone)(
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
