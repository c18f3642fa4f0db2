/** The ten jobs of the inspector, each with the keyboard alone. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

describe.skipIf(noBrowser !== undefined)('with the keyboard alone', () => {
  let sandbox: Inspected;
  let browser: Awaited<ReturnType<typeof launched>>;
  let context: BrowserContext;
  let page: Page;
  let card: string;
  let said: string[];
  const taken: string[] = [];
  const receiver = createServer((request, response) => {
    let text = '';
    request.on('data', part => {
      text += part;
    });
    request.on('end', () => {
      taken.push(text);
      response.writeHead(204).end();
    });
  });

  beforeAll(async () => {
    await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve));
    sandbox = await inspected(['--data', 'demo', '--seed', '7']);
    browser = await launched();
    context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { port } = receiver.address() as AddressInfo;
    await sandbox.run(`--sandbox webhooks create --url http://127.0.0.1:${port}/hook --event * --yes -q`);
    card = (await sandbox.run('--sandbox cards create --bin auto --amount 50 --yes -q')).trim();
    page = await context.newPage();
    said = complaintsOf(page);
    await page.goto(await sandbox.address(card));
    await heading('Card');
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox?.[Symbol.asyncDispose]();
    receiver.close();
    receiver.closeAllConnections();
  });

  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  /** Goes on with Tab until this has the focus. */
  const tabTo = async (name: string | RegExp) => {
    for (let nth = 0; nth < 120; nth += 1) {
      await press('Tab');
      const label = await page.evaluate(() => {
        const at = document.activeElement as HTMLElement;
        const own = at.id === '' ? null : document.querySelector(`label[for="${CSS.escape(at.id)}"]`);
        return (own?.textContent ?? at.closest('label')?.textContent ?? at.textContent ?? '').trim();
      });
      if (typeof name === 'string' ? label.startsWith(name) : name.test(label)) return;
    }
    throw new Error(`Tab never came to ${name}`);
  };
  const status = () => page.getByRole('status');
  /** `p`, once it leads into the form. */
  const pressToPurchase = async () => {
    const field = 'form[data-form="simulate.authorize"] input';
    await page.locator(`${field}:enabled`).first().waitFor();
    await press('p');
    await page.locator(`${field}:focus`).waitFor();
  };

  it('8: simulates a purchase, and 1: says why it was declined', async () => {
    await pressToPurchase();
    await page.keyboard.type('30');
    await press('Enter');
    await status().getByText('approved', { exact: true }).waitFor();
    await pressToPurchase();
    await press('Control+A');
    await page.keyboard.type('95');
    await press('Enter');
    await status().getByText('declined', { exact: true }).waitFor();
    await tabTo('Why: the checks of this purchase');
    await press('Enter');
    await page.getByText('Declined: insufficient funds: amount $95.00 against available $20.00.').waitFor();
  });

  it('7: shows the life of the card, money and all', async () => {
    await press('c');
    await heading('Cards');
    await page.getByRole('link', { name: '••••' }).first().waitFor();
    await press('j', 'Enter');
    await page.getByRole('heading', { level: 1, name: 'Card ••••' }).waitFor();
    await page.getByText('authorized: card −$30.00, hold +$30.00').waitFor();
    await page.getByText('are the sums of all entries.').waitFor();
  });

  it('3: shows what the code sent and what it got, and 10: gives the command and the curl that repeat it', async () => {
    await press('r');
    await heading('Requests');
    await page.getByRole('link', { name: 'POST /v1/cards' }).waitFor();
    await tabTo('POST /v1/cards');
    await press('Enter');
    await heading('Request');
    await page.getByText('the answer as it is').waitFor();
    await press('y');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toMatch(/^cardwright sandbox requests req_\w+$/);
    const pair = JSON.parse(await sandbox.run(`${copied.replace('cardwright ', '')} --json`)) as {
      operation: string;
      status: number;
    };
    expect(pair).toMatchObject({ operation: 'cards.create', status: 201 });
    await tabTo('Copy curl, same key');
    const curl = await page.evaluate(() => (document.activeElement as HTMLElement).dataset['copies']);
    expect(curl).toContain('X-Idempotency-Key: ');
    expect(curl).toContain(`${sandbox.origin}/v1/cards`);
    expect(curl).not.toContain('sk_test_');
  });

  it('2: shows that the webhook arrived, and sends it again, edited', async () => {
    await press('w');
    await heading('Webhooks');
    await page.getByRole('link', { name: 'transaction.declined' }).first().waitFor();
    await press('j', 'Enter');
    await heading('Delivery');
    await page.getByText('204', { exact: true }).first().waitFor();
    await tabTo('Edit and send');
    await press('Enter');
    await tabTo(/^body/i);
    await press('Control+A');
    await page.keyboard.type('{"edited":');
    await press('Enter');
    await page.keyboard.type('true}');
    const before = taken.length;
    await tabTo('Send');
    await press('Enter');
    await status().getByRole('link', { name: 'follow this delivery' }).waitFor();
    await expect.poll(() => taken.length).toBeGreaterThan(before);
    expect(taken.at(-1)).toBe('{"edited":\ntrue}');
  });

  it('5: lets the next create lose its answer', async () => {
    await press('f');
    await heading('Faults');
    await tabTo('The next create loses its answer');
    await press('Enter');
    await tabTo('Add');
    await press('Enter');
    await status()
      .getByText(/Added flt_/)
      .waitFor();
    const { data } = (await sandbox.json('sandbox faults list --json')) as { data: { phase: string }[] };
    expect(data[0]).toMatchObject({ phase: 'after_commit' });
  });

  it('9: saves a snapshot, and 4: moves time by a week', async () => {
    await press('s');
    await heading('Snapshots');
    await tabTo(/^name/i);
    await page.keyboard.type('before');
    await press('Enter');
    await page.getByRole('cell', { name: 'before' }).waitFor();
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await press('t');
    await heading('Clock');
    await tabTo('Advance');
    await press('Enter');
    await status()
      .getByText(/happened:/)
      .waitFor();
    await page.getByText('authorization.expiry').first().waitFor();
  });

  it('6: says whether the money is whole', async () => {
    await press('i');
    await heading('Ledger check');
    await tabTo('Check now');
    await press('Enter');
    await status().getByText('Every rule holds').waitFor();
  });

  it('says nothing on the console meanwhile', () => {
    expect(said).toEqual([]);
  });
});
