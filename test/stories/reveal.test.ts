import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fakeXclip } from '../support/fake-clipboard.ts';
import { type World, world } from '../support/world.ts';

const REVEAL = 'cards details card_1 --reveal --print';
const NO_PROFILE = { CARDWRIGHT_PROFILE: '' };
const LIVE_KEY = 'sk_live_51f0c2d89ab34e67';
/** Were a request sent, the name of the address would not resolve: exit 12. */
const SENT = 12;

async function withCard(terminal?: number): Promise<World> {
  const here = await world(terminal === undefined ? {} : { terminal });
  await here.run('cards create --bin bin_1 --amount 5 --label ads');
  return here;
}

interface AuditLine {
  readonly event: string;
  readonly operation: string;
  readonly card_id?: string;
  readonly last4?: string;
  readonly outcome?: string;
  readonly sink?: string;
}

async function audited(here: World): Promise<readonly AuditLine[]> {
  const { out } = await here.run('audit list --all --json');
  return (JSON.parse(out) as { data: AuditLine[] }).data.toReversed();
}

const number = async (here: World) => (await here.run(`${REVEAL} --field number`)).out.trim();

async function asked(here: World): Promise<number> {
  return (await audited(here)).filter(({ event }) => event === 'reveal').length;
}

describe('nothing is sent', () => {
  test('off a terminal without --reveal and a place, whatever is piped in', async () => {
    await using here = await withCard();
    for (const line of [
      'cards details card_1',
      'cards details card_1 --print',
      'cards details card_1 --reveal',
      'cards details card_1 --out x.json',
      'cards details card_1 --copy number',
      'cards exec card_1 -- true',
      'cards details card_1 --yes --print',
    ]) {
      const { code, out } = await here.run(line, { stdin: 'y\n'.repeat(1000) });
      expect({ line, code, out }).toEqual({ line, code: line.includes('--copy') ? 2 : 3, out: '' });
    }
    expect(await asked(here)).toBe(0);
  });

  test('beside a debugger, for several cards at once, and for two places', async () => {
    await using here = await withCard();
    for (const option of ['--inspect', '--report-on-signal']) {
      for (const how of [{ execArgv: [option] }, { env: { NODE_OPTIONS: option } }]) {
        const { code, out, err } = await here.run(REVEAL, how);
        expect({ option, code, out }).toEqual({ option, code: 14, out: '' });
        expect(err).toContain(option.split('=')[0]);
      }
    }
    await writeFile(join(here.folder, 'cards.csv'), 'card_id\ncard_1\n');
    for (const line of [
      'cards details card_1 card_2 --reveal --print',
      'cards details --file cards.csv --reveal --print',
      'cards details - --reveal --print',
      'cards exec --file cards.csv --reveal -- true',
      'cards details card_1 --reveal --print --out x',
      'cards details card_1 --reveal --print --copy number',
      'cards details card_1 --reveal --out x --copy cvv',
      'cards details card_1 --reveal --copy cvv --field cvv',
    ]) {
      const { code, out } = await here.run(line, { stdin: 'card_1\ncard_2\n' });
      expect({ line, code, out }).toEqual({ line, code: 2, out: '' });
    }
    expect(await asked(here)).toBe(0);
  });

  test('on a terminal that cannot wipe a screen, unless it is to be printed', async () => {
    await using here = await withCard(80);
    const env = { TERM: 'dumb' };
    const { code, err, all } = await here.run('cards details card_1 --reveal', { env });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('TERM=dumb') });
    expect(err).toContain('--print');
    expect(all).not.toContain('\x1b');
    expect(await asked(here)).toBe(0);
    expect((await here.run(REVEAL, { env })).code).toBe(0);
  });
});

describe('a live card', () => {
  async function live(env = {}, more: { allowed?: boolean; terminal?: number; execArgv?: string[] } = {}) {
    await using here = await world({ env: NO_PROFILE });
    const login = 'login --profile prod --base-url https://service.invalid/v1 --key-stdin';
    expect((await here.run(login, { stdin: LIVE_KEY })).code).toBe(0);
    if (more.allowed) await here.run('profiles set prod allow_unattended_reveal true');
    const line = `${REVEAL} --live prod --timeout 2s`;
    const { terminal, execArgv = [] } = more;
    const told = { env, execArgv, ...(terminal === undefined ? {} : { terminal }) };
    return await here.run(line, told);
  }

  test.each([{ SSH_CONNECTION: '10.0.0.1 50000 10.0.0.2 22' }, { CI: 'true' }])(
    'is refused under %j, and the variable is named',
    async env => {
      const [name = ''] = Object.keys(env);
      for (const terminal of [undefined, 80]) {
        const { code, err } = await live(env, terminal === undefined ? {} : { terminal });
        expect({ code, named: err.includes(name) }).toEqual({ code: 14, named: true });
      }
      expect((await live(env, { allowed: true })).code).toBe(SENT);
    },
  );

  test('needs the setting off a terminal, and a person or the setting on one', async () => {
    expect((await live()).code).toBe(14);
    expect((await live({}, { allowed: true })).code).toBe(SENT);
    expect((await live({}, { terminal: 80 })).code).toBe(SENT);
  });

  test('is not revealed beside preloaded code, setting or not', async () => {
    for (const allowed of [false, true]) {
      expect((await live({}, { allowed, terminal: 80, execArgv: ['--require', './x.cjs'] })).code).toBe(14);
    }
  });
});

describe('each reveal', () => {
  test('has a line before and one after, without card data', async () => {
    await using here = await withCard();
    const pan = await number(here);
    await here.run('cards details card_1 --reveal --out card.json');
    await here.run('cards exec card_1 --reveal -- true');
    const lines = (await audited(here)).filter(({ operation }) => operation === 'cards.details');
    expect(lines.map(({ event, sink, outcome }) => [event, sink ?? outcome])).toEqual([
      ['reveal', 'print'],
      ['outcome', 'done'],
      ['reveal', 'file'],
      ['outcome', 'done'],
      ['reveal', 'child'],
      ['outcome', 'done'],
    ]);
    expect(lines.every(({ card_id }) => card_id === 'card_1')).toBe(true);
    expect(lines[1]?.last4).toBe(pan.slice(-4));
    for (const file of ['journal.db', 'journal.db-wal']) {
      const bytes = await readFile(join(here.folder, 'state', file)).catch(() => Buffer.alloc(0));
      expect(bytes.includes(pan)).toBe(false);
    }
  });

  test('counts: the 31st of a minute is exit 7 and is not asked for', async () => {
    await using here = await withCard();
    for (let nth = 1; nth <= 30; nth += 1) expect((await here.run(REVEAL)).code).toBe(0);
    const { code, out, err } = await here.run(`${REVEAL} --json`);
    expect({ code, out }).toEqual({ code: 7, out: '' });
    const { error } = JSON.parse(err) as { error: { retryable: boolean; retry_after_ms: number; outcome: string } };
    expect(error).toMatchObject({ retryable: true, outcome: 'not_sent' });
    expect(error.retry_after_ms).toBeLessThanOrEqual(60_000);
    expect(await asked(here)).toBe(30);
    expect((await here.run('cards exec card_1 --reveal -- true')).code).toBe(7);
  });
});

describe('cards exec', () => {
  const script = (here: World) => join(here.folder, 'child.sh');
  async function child(here: World, text: string) {
    await writeFile(script(here), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }

  test('hands five variables to the child, prints nothing and ends with its exit code', async () => {
    await using here = await withCard();
    const pan = await number(here);
    await child(here, 'env > seen.txt; echo "$@" > args.txt; exit 42');
    const names = ['API_KEY', 'API_KEY_FILE', 'SANDBOX_TOKEN', 'WEBHOOK_SECRET'];
    const keys = Object.fromEntries(names.map(name => [`CARDWRIGHT_${name}`, 'sk_test_CANARY0123456789']));
    const env = { ...keys, PATH: process.env['PATH'] };
    const ran = await here.run(`cards exec card_1 --reveal --sandbox -- ./child.sh --json -x 'a b' --`, { env });
    expect(ran.code).toBe(42);
    expect(ran.out).toBe('');
    expect(ran.err).not.toContain(pan);
    const seen = await readFile(join(here.folder, 'seen.txt'), 'utf8');
    const cards = seen.split('\n').filter(line => line.startsWith('CARD_'));
    expect(cards.map(line => line.split('=')[0]).sort()).toEqual([
      'CARD_CVV',
      'CARD_EXP_MONTH',
      'CARD_EXP_YEAR',
      'CARD_ID',
      'CARD_NUMBER',
    ]);
    expect(seen).toContain(`CARD_NUMBER=${pan}`);
    expect(seen).toContain('CARD_EXP_MONTH=11');
    expect(seen).not.toContain('CANARY');
    expect(await readFile(join(here.folder, 'args.txt'), 'utf8')).toBe('--json -x a b --\n');
  });

  test('runs no shell', async () => {
    await using here = await withCard();
    const { code } = await here.run(`cards exec card_1 --reveal -- 'touch hacked; true'`);
    expect(code).toBe(2);
    await expect(stat(join(here.folder, 'hacked'))).rejects.toThrow('ENOENT');
  });

  test('a child killed by a signal is 128 and the signal', async () => {
    await using here = await withCard();
    await child(here, 'kill -TERM $$');
    expect((await here.run('cards exec card_1 --reveal -- ./child.sh')).code).toBe(143);
  });

  test('needs a program: without one that can be run the card is not asked for', async () => {
    await using here = await withCard();
    await writeFile(join(here.folder, 'text.txt'), 'not to be run', { mode: 0o600 });
    const env = { PATH: `${here.folder}:${process.env['PATH']}` };
    for (const program of ['', 'nosuchprogram', '/', 'text.txt', './text.txt']) {
      const { code, err } = await here.run(`cards exec card_1 --reveal -- ${program}`, { env });
      expect({ program, code }).toEqual({ program, code: 2 });
      expect(err).toContain(program === '' ? 'needs a program' : JSON.stringify(program));
    }
    expect(await asked(here)).toBe(0);
  });

  test('is looked for in absolute folders of PATH alone, never in the working folder', async () => {
    await using here = await withCard();
    await writeFile(join(here.folder, 'true'), '#!/bin/sh\nenv > planted\n', { mode: 0o755 });
    for (const path of ['', '.', ':']) {
      const env = { PATH: `${path}:${process.env['PATH']}` };
      expect((await here.run('cards exec card_1 --reveal -- true', { env })).code).toBe(0);
    }
    expect((await here.run('cards exec card_1 --reveal -- true', { env: { PATH: '.' } })).code).toBe(2);
    await expect(stat(join(here.folder, 'planted'))).rejects.toThrow('ENOENT');
    expect((await here.run('cards exec card_1 --reveal -- ./true')).code).toBe(0);
    expect(await readFile(join(here.folder, 'planted'), 'utf8')).toContain('CARD_NUMBER=');
  });
});

describe('the clipboard', () => {
  test('gets one field through a program and is cleared', async () => {
    await using here = await withCard(80);
    await fakeXclip(here.folder);
    const pan = await number(here);
    const how = { env: { DISPLAY: ':0' }, programFolders: [here.folder], hurried: true };
    const { code, all } = await here.run('cards details card_1 --reveal --copy number --json', how);
    expect(code).toBe(0);
    expect(all).not.toContain(pan);
    expect(all).not.toContain('\x1b]52');
    expect(all).toContain('"cleared": true');
    expect(await readFile(join(here.folder, 'board'), 'utf8')).toBe('');
    expect(await readFile(join(here.folder, 'args'), 'utf8')).toBe(
      '-selection clipboard\n-selection clipboard -o\n-selection clipboard\n',
    );
  });

  test('is named another way where no program is there', async () => {
    await using here = await withCard(80);
    const { code, err } = await here.run('cards details card_1 --reveal --copy number --json', { programFolders: [] });
    expect(code).toBe(2);
    expect(JSON.parse(err).error.hint).toBe('cardwright cards details card_1 --reveal --out card.json');
  });
});
