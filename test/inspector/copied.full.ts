/** What is copied is what was sent, also by the mouse; what is not kept is said. Keys, names of fields, emoji. */
import { readFile } from 'node:fs/promises';
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

const FAMILY = '👨‍👩‍👧 shop';
const ARABIC = 'مقهى البرج العالي في وسط المدينة القديمة بجانب النهر';

describe.skipIf(noBrowser !== undefined)('what the page shows of a request', () => {
  let sandbox: Inspected;
  let browser: Awaited<ReturnType<typeof launched>>;
  let context: BrowserContext;
  let page: Page;
  let said: string[];
  let key: string;

  beforeAll(async () => {
    sandbox = await inspected(['--data', 'demo', '--seed', '7']);
    browser = await launched();
    context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    const settings = await sandbox.run('sandbox status -o env');
    const file = /CARDWRIGHT_API_KEY_FILE='?([^'\n]+)/.exec(settings)?.[1] ?? '';
    key = (await readFile(file, 'utf8')).trim();
    page = await context.newPage();
    said = complaintsOf(page);
    await page.goto(await sandbox.address());
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox?.[Symbol.asyncDispose]();
  });

  /** Sends a request and shows it. */
  async function shown(path: string, init: RequestInit = {}): Promise<number> {
    const headers = { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) };
    const response = await fetch(`${sandbox.url}${path}`, { ...init, headers });
    await response.text();
    await page.goto(`${sandbox.origin}/_sandbox/#/requests/${response.headers.get('x-request-id')}`);
    await page
      .getByText(String(response.headers.get('x-request-id')))
      .first()
      .waitFor();
    await page.getByRole('heading', { name: 'Sent' }).waitFor();
    return response.status;
  }
  const create = async (label: string, idempotencyKey: string) => {
    const { data } = (await sandbox.json('--sandbox bins list --json')) as { data: readonly { id: string }[] };
    return shown('/cards', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-idempotency-key': idempotencyKey },
      body: JSON.stringify({ bin_id: data[0]?.id, amount: 5, label }),
    });
  };
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const copiesOf = (name: string) => button(name).getAttribute('data-copies');
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

  it('has the query, and copies it', async () => {
    expect(await shown('/cards?status=frozen')).toBe(200);
    await page.getByText('GET /v1/cards?status=frozen').waitFor();
    expect(await copiesOf('Copy curl')).toContain(`${sandbox.origin}/v1/cards?status=frozen'`);
    await page.keyboard.press('r');
    await page.getByRole('link', { name: 'GET /v1/cards?status=frozen' }).first().waitFor();
  });

  it('copies the same key, and a new one by a click of the mouse behind it', async () => {
    expect(await create(FAMILY, 'order-20261123190001')).toBe(201);
    expect(await copiesOf('Copy curl, same key')).toContain('X-Idempotency-Key: order-20261123190001');
    const keys = new Set<string>();
    for (let nth = 0; nth < 3; nth += 1) {
      await button('Copy curl, same key').click();
      await button('Copied').waitFor();
      const box = await button('Copy curl, new key').boundingBox();
      if (box === null) throw new Error('no button');
      await page.mouse.click(box.x + 4, box.y + box.height / 2);
      await button('Copied').waitFor();
      await expect.poll(clipboard).toMatch(/X-Idempotency-Key: again-[0-9a-f]{8}'/);
      keys.add(await clipboard());
    }
    expect(keys.size).toBe(3);
  });

  it('offers no curl with a key that is not kept, and none at all for a body that is not', async () => {
    expect(await create('plain', 'order1-4222222222222')).toBe(201);
    await page.getByText('No curl with the same key. Not kept as it was sent: idempotency_key').waitFor();
    expect(await button('Copy curl, same key').count()).toBe(0);
    expect(await button('Copy curl, new key').count()).toBe(1);
    expect(await create('for 4222222222222', 'other')).toBe(201);
    await page.getByText(/No curl, because it would send something else\..*body\.label/).waitFor();
    expect(await page.getByRole('button', { name: /^Copy curl/ }).count()).toBe(0);
    expect(await page.locator('body').innerText()).not.toContain('4222222222222');
  });

  it('says that there was a body which is not kept', async () => {
    const headers = { 'content-type': 'application/json', 'x-idempotency-key': 'odd' };
    expect(await shown('/cards', { method: 'POST', headers, body: 'not at json' })).toBe(400);
    await page.getByText('Body: 11 bytes, not kept.').waitFor();
    expect(await page.getByText('No body.').count()).toBe(0);
    expect(await page.getByRole('button', { name: /^Copy curl/ }).count()).toBe(0);
  });

  it('closes the list of keys by Escape, and stays where it is', async () => {
    const fresh = await (await browser.newContext()).newPage();
    await fresh.goto('about:blank');
    await fresh.goto(await sandbox.address());
    await fresh.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await fresh.keyboard.press('c');
    await fresh.getByRole('heading', { level: 1, name: 'Cards' }).waitFor();
    await fresh.keyboard.press('?');
    const keys = fresh.getByRole('region', { name: 'Keys' });
    await keys.getByText('close this list').waitFor();
    expect((await keys.innerText()).split('\n')).toContain('c');
    await fresh.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });
    await fresh.keyboard.press('Escape');
    expect(await fresh.getByRole('heading', { level: 1 }).innerText()).toBe('Cards');
    await fresh.keyboard.press('i');
    await fresh.getByRole('heading', { level: 1, name: 'Ledger check' }).waitFor();
    expect(fresh.url()).toContain(sandbox.origin);
    await fresh.close();
  });

  it('tells every field of a form what it is for', async () => {
    const [card] = (await sandbox.run('--sandbox cards list -o id')).split('\n');
    await page.goto(`${sandbox.origin}/_sandbox/#/cards/${card}`);
    const fields = page.locator('form[data-form] :is(input, select, textarea)');
    await page.getByRole('button', { name: 'Purchase' }).waitFor();
    const left = await fields.evaluateAll(all =>
      all
        .filter(field => {
          const ids = (field.getAttribute('aria-describedby') ?? '').split(' ');
          return ids.some(id => (document.getElementById(id)?.textContent ?? '') === '');
        })
        .map(field => field.id),
    );
    expect(left).toEqual([]);
    const amount = page.locator('form[data-form="simulate.authorize"]').getByLabel('amount', { exact: true });
    expect(await amount.ariaSnapshot()).toContain('textbox');
    const described = await amount.evaluate(field => field.getAttribute('aria-describedby'));
    expect(described).not.toContain(' ');
  });

  it('shows an emoji whole, and a text from right to left from its beginning', async () => {
    const card = (
      await sandbox.run(`--sandbox cards create --bin auto --amount 5 --label '${ARABIC}' --yes -q`)
    ).trim();
    await page.goto(`${sandbox.origin}/_sandbox/#/cards`);
    await page.getByRole('cell', { name: FAMILY }).first().waitFor();
    const cell = page
      .locator('tr', { has: page.locator(`a[title="${card}"]`) })
      .locator('td bdi')
      .last();
    await cell.waitFor();
    expect(await cell.evaluate(text => text.matches(':dir(rtl)'))).toBe(true);
  });

  it('says nothing on the console meanwhile', () => {
    expect(said.filter(line => !line.includes('400'))).toEqual([]);
  });
});
