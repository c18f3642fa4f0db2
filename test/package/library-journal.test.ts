/** The built `cardwright/client` and a shared journal: what it loads and when, that it ends, and what a killed program leaves. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database, PASSWORD } from '../postgres/shared.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { team } from '../team/team.ts';
import { ended, ROOT } from './built.ts';

const LIBRARY = join(ROOT, 'dist', 'library-client.cjs');
const EXAMPLE = join(ROOT, 'examples', 'order-card.mjs');
/** Says on standard output what the card is. */
const PROGRAM = `
const { createClient } = require(${JSON.stringify(LIBRARY)});
(async () => {
  const client = createClient(JSON.parse(process.env.OPTIONS));
  await client.send('wallet.get');
  const card = await client.send('cards.create', { bin_id: 'bin_1', amount: 10 }, { intent: 'po-1' });
  await client.close();
  console.log(JSON.stringify({ id: card.id }));
})();
`;

/** Says what a call without a journal came to, and one with a folder. */
const PAST_THE_JOURNAL = `
const { createClient } = require(${JSON.stringify(LIBRARY)});
(async () => {
  const { baseUrl, apiKey, folder } = JSON.parse(process.env.OPTIONS);
  const said = error => [error.kind, error.outcome, error.message];
  const past = createClient({ baseUrl, apiKey });
  const create = ['cards.create', { bin_id: 'bin_1', amount: 10 }];
  const results = [await past.send('wallet.get').then(() => 'read'), await past.send(...create).catch(said)];
  results.push(await past.send('cards.freeze', { card_id: 'card_1' }).then(() => 'frozen'));
  const { id: webhook_id } = await past.send('webhooks.create', { url: 'https://example.com/hook', events: ['card.created'] });
  results.push(await past.send('webhooks.delete', { webhook_id }).then(() => 'deleted', said));
  const kept = createClient({ baseUrl, apiKey, journal: folder });
  results.push(await kept.send(...create, { intent: 'po-1' }).catch(said));
  console.log(JSON.stringify(results));
})();
`;

describe.skipIf(missing())('the built client with a shared journal', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  it('is killed behind its request: a colleague settles it, and the program run again gets that card', async () => {
    await using t = await team(here, { delayMs: 60_000 });
    await using folder = await temporaryFolder();
    const password = join(folder.path, 'password');
    await writeFile(password, `${PASSWORD}\n`, { mode: 0o600 });
    const options = {
      baseUrl: t.proxy.url,
      apiKey: t.key,
      journal: `postgres://ana@127.0.0.1:${here.server.port}/${here.name}`,
      journalAccount: t.at.account,
      journalPasswordFile: password,
      journalFolder: folder.path,
    };
    const env = {
      OPTIONS: JSON.stringify(options),
      CARD_SERVICE: t.proxy.url,
      CARD_KEY: t.key,
      JOURNAL_URL: options.journal,
      JOURNAL_ACCOUNT: t.at.account,
      CARDWRIGHT_JOURNAL_PASSWORD_FILE: password,
      CARDWRIGHT_CONFIG_DIR: folder.path,
      PGHOST: 'db.example.com',
    };
    const start = (...words: readonly string[]) => spawn(process.execPath, words, { env });
    t.proxy.fail('POST', /\/cards$/, 'late-answer');
    const killed = start(EXAMPLE, 'po-1');
    await t.proxy.posted(1);
    killed.kill('SIGKILL');
    await once(killed, 'close');
    await t.at.endLeases();
    const [known] = await t.at.ana.heads(t.at.account, {});
    expect(known).toMatchObject({ unknown: 1, holder: 'ana', state: 'running' });
    const machine = await t.machine('ben');
    const taken = await machine.run(`ops takeover ${known?.op} --reason "the program was killed"`);
    expect({ code: taken.code, err: taken.err }).toMatchObject({ code: 0 });
    const { code, out, err } = await ended(start('-e', PROGRAM));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toEqual({ id: 'card_1' });
    expect(await ended(start(EXAMPLE, 'po-1'))).toMatchObject({ code: 0, out: 'card_1\n', err: '' });
    expect([t.proxy.posts().length, (await t.cards()).length]).toEqual([1, 1]);
  });

  it('makes no card past the shared journal that the command line of its user has moved to', async () => {
    await using t = await team(here);
    await using folder = await temporaryFolder();
    const ana = await t.machine('ana');
    expect(await ana.run('cards create --bin bin_1 --amount 10 --journal local')).toMatchObject({ code: 0 });
    expect(await ana.run('journal move --to shared')).toMatchObject({ code: 0 });
    for (const address of [t.proxy.url, t.proxy.url.replace('127.0.0.1', 'localhost')]) {
      const OPTIONS = JSON.stringify({ baseUrl: address, apiKey: t.key, folder: folder.path });
      const env = { OPTIONS, CARDWRIGHT_CONFIG_DIR: ana.folder };
      const { code, out, err } = await ended(spawn(process.execPath, ['-e', PAST_THE_JOURNAL], { env }));
      expect({ code, err }).toEqual({ code: 0, err: '' });
      const refused = ['guarded', 'not_sent', expect.stringContaining('were moved to the account')];
      const [, , cure] = JSON.parse(out)[1];
      expect(cure).toContain('by a command or program of this user');
      expect(cure).toContain(`give createClient journal: "postgres://`);
      expect(cure).toContain(`and journalAccount: "${t.at.account}", and each such call an intent`);
      expect(JSON.parse(out)).toEqual(['read', refused, 'frozen', 'deleted', refused]);
    }
    expect((await t.cards()).length).toBe(1);
  });
});
