/**
 * Text from outside and secrets, in a real browser: hostile text in whatever a merchant, a client or a receiver can name,
 * and canaries that must stand nowhere until somebody reveals one. Also copied commands in real shells.
 */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BrowserContext,
  complaintsOf,
  type Inspected,
  inspected,
  launched,
  noBrowser,
  type Page,
} from '../support/browser.ts';
import { firefoxPage, noFirefox } from '../support/firefox.ts';
import { requires } from '../support/programs.ts';
import { showView } from './show-view.ts';

const HOSTILE = `<img src=x onerror=ran()>"'\\ $(id) \`id\` \u202etxt ;javascript:ran()`;
/** Headers hold no characters but these. */
const HOSTILE_ASCII = '<script>ran()</script>"\';$(id)';
const SHELLS = ['sh', 'bash', 'zsh', 'fish'].filter(name => name === 'sh' || requires(name) === undefined);

describe.skipIf(noBrowser !== undefined)('text from outside', () => {
  let sandbox: Inspected;
  let browser: Awaited<ReturnType<typeof launched>>;
  let context: BrowserContext;
  let page: Page;
  let said: string[];
  let card: string;
  const left: string[] = [];
  const secrets: Record<string, string> = {};
  const told: string[] = [];
  const receiver = createServer((_, response) => {
    response.writeHead(500, { 'X-Said': HOSTILE_ASCII, 'Content-Type': 'text/html' }).end(HOSTILE);
  });

  /** Asks the service as the code of a user does. */
  const ask = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(sandbox.url + path, {
      method,
      headers: { Authorization: `Bearer ${secrets['key']}`, 'Content-Type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, never>;
  };

  beforeAll(async () => {
    await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve));
    sandbox = await inspected(['--data', 'demo', '--seed', '7']);
    browser = await launched();
    const { readFile } = await import('node:fs/promises');
    const { api_key_file } = (await sandbox.json('sandbox status --json')) as { api_key_file?: string };
    const env = await sandbox.run('sandbox status -o env');
    const keyFile = api_key_file ?? /CARDWRIGHT_API_KEY_FILE='?([^'\n]+)'?/.exec(env)?.[1] ?? '';
    secrets['key'] = (await readFile(keyFile, 'utf8')).trim();
    secrets['token'] = (await readFile(join(keyFile, '..', 'admin-token'), 'utf8')).trim();
    const { port } = receiver.address() as AddressInfo;
    const hook = await ask('POST', '/webhooks', {
      url: `http://127.0.0.1:${port}/hook?secret-part`,
      events: ['*'],
      secret: 'whsec_Y2FuYXJ5LW9mLXRoZS1zaWduaW5nLXNlY3JldA',
    });
    expect(hook).toMatchObject({ id: expect.stringMatching(/^wh_/) });
    secrets['signing secret'] = 'whsec_Y2FuYXJ5LW9mLXRoZS1zaWduaW5nLXNlY3JldA';
    const { data: bins } = (await ask('GET', '/bins')) as unknown as { data: { id: string }[] };
    const made = await ask(
      'POST',
      '/cards',
      { bin_id: bins[0]?.id, amount: 50, label: HOSTILE.slice(0, 60), metadata: { '<b>k</b>': HOSTILE.slice(0, 80) } },
      { 'X-Idempotency-Key': HOSTILE_ASCII, 'User-Agent': HOSTILE_ASCII },
    );
    card = String(made['id']);
    const details = await ask('GET', `/cards/${card}/details`);
    secrets['card number'] = String(details['pan']);
    await ask('POST', `/cards/${encodeURIComponent(HOSTILE)}/fund`, { amount: 1 });
    await fetch(`${sandbox.url}/${encodeURIComponent(HOSTILE)}`, { headers: { Authorization: HOSTILE_ASCII } });
    await sandbox.place.run([
      'sandbox',
      'simulate',
      'authorize',
      '--card',
      card,
      '--amount',
      '99',
      '--merchant',
      HOSTILE,
    ]);
    await sandbox.place.run([
      'sandbox',
      'simulate',
      'challenge',
      '--card',
      card,
      '--amount',
      '9',
      '--merchant',
      HOSTILE,
    ]);
    const { data } = (await sandbox.json('--sandbox 3ds list --json')) as { data: { otp: string }[] };
    for (const [nth, { otp }] of data.entries()) secrets[`code ${nth}`] = otp;
    await sandbox.run('sandbox snapshot save before -q');
    context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    page = await context.newPage();
    said = complaintsOf(page);
    page.on('dialog', dialog => void dialog.dismiss().then(() => left.push('a dialog')));
    page.on('request', request => {
      if (new URL(request.url()).origin !== sandbox.origin) left.push(request.url());
    });
    page.on(
      'response',
      answer =>
        void answer.text().then(
          text => told.push(text),
          () => undefined,
        ),
    );
    const address = await sandbox.address();
    secrets['ticket'] = /#t=([^&]+)/.exec(address)?.[1] ?? 'none';
    await page.goto(address);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox?.[Symbol.asyncDispose]();
    receiver.close();
    receiver.closeAllConnections();
  });

  const show = (hash: string) => showView(page, hash);
  const first = async (line: string, name: string) =>
    ((await sandbox.json(line)) as { data: readonly Record<string, string>[] }).data[0]?.[name] ?? '';
  const everyView = async (): Promise<readonly string[]> => [
    '/',
    '/cards',
    `/cards?${new URLSearchParams({ q: HOSTILE })}`,
    `/cards/${card}`,
    `/cards/${encodeURIComponent(HOSTILE)}`,
    `/transactions/${await first(`tx list --sandbox --card ${card} --json`, 'id')}`,
    '/requests',
    `/requests/${await first('sandbox requests --operation cards.create --json', 'request_id')}`,
    '/webhooks',
    `/webhooks/${await first('sandbox deliveries list --json', 'id')}`,
    '/clock',
    '/faults',
    '/simulate',
    '/snapshots/before',
    `/scenarios?card=${card}`,
    '/invariants',
    `/${encodeURIComponent(HOSTILE)}`,
  ];

  it('37: runs nowhere, leaves no request, and turns no line around', async () => {
    let seen = '';
    for (const hash of await everyView()) {
      await show(hash);
      for (const each of await page.locator('details').all())
        await each.evaluate(found => found.setAttribute('open', ''));
      const found = await page.evaluate(made);
      expect([hash, found.ran, found.made, found.links]).toEqual([hash, false, 0, 0]);
      expect([hash, /[\u202a-\u202e\u2066-\u2069]/.test(found.text)]).toEqual([hash, false]);
      seen += found.text;
    }
    // The twin: it was there to be seen, as text.
    expect(seen).toContain('<img src=x onerror=ran()>');
    expect(seen).toContain('\\u{202e}txt');
    expect(seen).toContain('<script>ran()</script>');
    expect(left).toEqual([]);
    expect(said.filter(line => !line.includes('404'))).toEqual([]);
  });

  it.skipIf(noFirefox !== undefined)(
    '37 and 40, in Firefox: nothing runs, and no secret stands in a view',
    async () => {
      await using firefox = await firefoxPage();
      await firefox.goto(await sandbox.address());
      let seen = '';
      for (const hash of await everyView()) {
        await firefox.evaluate(`location.hash = ${JSON.stringify(hash)}`);
        await firefox.until(`document.querySelector('h1') !== null && !/Loading …/.test(document.body.innerText)`);
        await firefox.evaluate(`for (const each of document.querySelectorAll('details')) each.open = true`);
        const found = await firefox.evaluate(made);
        expect([hash, found.ran, found.made, found.links]).toEqual([hash, false, 0, 0]);
        expect([hash, /[\u202a-\u202e\u2066-\u2069]/.test(found.text)]).toEqual([hash, false]);
        seen += found.text + (await firefox.evaluate<never, string>('document.documentElement.outerHTML'));
      }
      expect(seen).toContain('<img src=x onerror=ran()>');
      expect(Object.entries(secrets).flatMap(([name, secret]) => (seen.includes(secret) ? [name] : []))).toEqual([]);
      expect(firefox.said.filter(line => !line.includes('404'))).toEqual([]);
    },
  );

  it('38: copied commands give every shell the same words', async () => {
    const bin = join(sandbox.place.folder, 'stub');
    await mkdir(bin);
    // What it was given, and what came in, so that nothing of both is lost.
    await writeFile(
      join(bin, 'cardwright'),
      `#!${process.execPath}\nconst stdin = process.argv.includes('-') ? require('node:fs').readFileSync(0, 'utf8') : '';\nprocess.stdout.write(JSON.stringify([...process.argv.slice(2), stdin]));\n`,
    );
    await chmod(join(bin, 'cardwright'), 0o755);
    const fields = new URLSearchParams({ card_id: card, amount: '5', merchant: HOSTILE });
    await show(`/simulate/simulate.authorize?${fields}`);
    const purchase = await page.getByRole('button', { name: 'Copy command' }).first().getAttribute('data-copies');
    await show('/faults');
    await page.locator('#rule').fill(JSON.stringify({ match: { path: HOSTILE }, action: { kind: 'reset' } }));
    const rule = await page.getByRole('button', { name: 'Copy command' }).last().getAttribute('data-copies');
    await show('/scenarios');
    await page.locator('#scenario').fill(`scenario: ${HOSTILE}\nsteps:\n  - wallet.get: {}\n`);
    const scenario = await page.getByRole('button', { name: 'Copy command' }).first().getAttribute('data-copies');
    const PATH = `${bin}${delimiter}${process.env['PATH'] ?? ''}`;
    const HOME = sandbox.place.folder;
    for (const shell of SHELLS) {
      const run = (line: string | null) =>
        JSON.parse(execFileSync(shell, ['-c', line ?? ''], { encoding: 'utf8', env: { PATH, HOME } })) as string[];
      const words = run(purchase);
      expect([shell, words[words.indexOf('--merchant') + 1]]).toEqual([shell, HOSTILE]);
      expect([shell, JSON.parse(run(rule).at(-1) ?? '').match.path]).toEqual([shell, HOSTILE]);
      expect([shell, run(scenario).at(-1)]).toEqual([shell, `scenario: ${HOSTILE}\nsteps:\n  - wallet.get: {}\n`]);
    }
    expect(SHELLS.length).toBeGreaterThan(0);
  });

  it('40: no secret stands anywhere before it is revealed, nor 30 s after', async () => {
    const watched = await context.newPage();
    const answers: string[] = [];
    watched.on(
      'response',
      answer =>
        void answer.text().then(
          text => answers.push(text),
          () => undefined,
        ),
    );
    await watched.clock.install();
    await watched.goto(await sandbox.address(card));
    await watched.getByRole('heading', { level: 1, name: 'Card' }).waitFor();
    const everything = async () =>
      (
        await watched.evaluate(() => [
          location.href,
          document.title,
          document.cookie,
          JSON.stringify({ ...localStorage }),
          JSON.stringify({ ...sessionStorage }),
          document.documentElement.outerHTML,
          [...document.querySelectorAll('input, textarea')].map(each => (each as HTMLInputElement).value).join(),
        ])
      ).join('\n');
    const found = (text: string) =>
      Object.entries(secrets).flatMap(([name, secret]) => (text.includes(secret) ? name : []));
    expect(found(await everything())).toEqual([]);
    expect(found([...told, ...answers].join('\n'))).toEqual([]);

    await watched.getByText('Reveal number and security code').click();
    await watched.getByLabel('last four digits', { exact: true }).fill(secrets['card number']?.slice(-4) ?? '');
    await watched.getByRole('button', { name: 'Reveal for 30 s' }).click();
    await watched.locator('dt', { hasText: 'security code' }).waitFor();
    expect(found(await everything())).toEqual(['card number']);
    await watched.clock.fastForward(31_000);
    await watched.locator('dt', { hasText: 'security code' }).waitFor({ state: 'detached' });
    expect(found(await everything())).toEqual([]);

    await watched.evaluate(() => {
      location.hash = '/challenges?status=pending';
    });
    await watched.getByRole('link', { name: '$9.00' }).first().click();
    await watched.getByRole('button', { name: 'Show code' }).click();
    await expect.poll(async () => found(await everything()).length).toBe(1);
    await watched.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await expect.poll(async () => found(await everything())).toEqual([]);
    await watched.close();
  });
});

/** In the page: what text from outside has become, if anything. */
const made = () => ({
  ran: 'ran' in globalThis,
  made: document.querySelectorAll('img, iframe, object, embed, script:not([src]), [onerror], [onclick]').length,
  links: [...document.querySelectorAll('a')].filter(link => !link.getAttribute('href')?.startsWith('#/')).length,
  text: document.body.innerText,
});
