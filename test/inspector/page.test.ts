/** The inspector in a real browser: opened once, by the keyboard, with text from outside that stays text. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BrowserContext,
  complaintsOf,
  type Inspected,
  inspected,
  launched,
  noBrowser,
  type Route,
} from '../support/browser.ts';

const HOSTILE = '<img src=x onerror=alert(1)>\u202etxt 珈琲店 مقهى';

describe.skipIf(noBrowser !== undefined)('the inspector', () => {
  let sandbox: Inspected;
  let browser: Awaited<ReturnType<typeof launched>>;
  let context: BrowserContext;
  let card: string;

  // One window for all: a second takes the browser as long as the page takes it.
  beforeAll(async () => {
    [sandbox, browser] = await Promise.all([inspected(['--data', 'demo', '--seed', '7']), launched()]);
    context = await browser.newContext();
    card = (await sandbox.run('--sandbox cards list --label search -o id')).split('\n')[0] ?? '';
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox?.[Symbol.asyncDispose]();
  });

  it('opens once, takes keys as soon as its heading stands, checks the books, and is empty when the session ends', async () => {
    const page = await context.newPage();
    // Without a ticket there is nothing, and after it the ticket stands in no address.
    expect((await page.goto(`${sandbox.origin}/_sandbox/`))?.status()).toBe(404);
    await page.addInitScript(typeWhereAHeadingStands);
    const said = complaintsOf(page);
    const address = await sandbox.address();
    await page.goto(address);
    await page.waitForFunction(() => 'focused' in window);
    expect(await page.evaluate(() => (window as { focused?: string }).focused)).toBe('Ledger check');
    expect(page.url()).toBe(`${sandbox.origin}/_sandbox/#/invariants`);
    expect(said).toEqual([]);

    await page.getByRole('button', { name: 'Check now' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Every rule holds: the money adds up.').waitFor();

    await sandbox.run('sandbox open --end -q');
    await page.getByRole('heading', { level: 1, name: 'No session' }).waitFor();
    // Used once, it opens nothing again.
    const refused = page.waitForResponse('**/page/session');
    await page.goto(address);
    expect((await refused).status()).toBe(401);
    await page.getByRole('heading', { level: 1, name: 'No session' }).waitFor();
    expect(await page.locator('body').innerText()).not.toContain('Overview');
    await page.close();
  });

  it('picks the card of a purchase from a list, and copies the command with all that was chosen', async () => {
    const page = await context.newPage();
    await page.goto(await sandbox.address('simulate'));
    const field = page.getByRole('combobox', { name: 'card' });
    await field.fill('search');
    await page.locator(`datalist option[value="${card}"]`).waitFor({ state: 'attached' });
    await field.fill(card);
    await page.getByLabel('amount').fill('1');
    await page.getByLabel('force decline').selectOption('card_expired');
    const command = `cardwright sandbox simulate authorize --card ${card} --amount 1 --decline card_expired`;
    await page.locator(`[data-copies="${command}"]`).waitFor();
    await page.close();
  });

  it('loses nothing that is typed when a poll comes, fails or finds the store busy, shows at once what was done, however long the view took, and text from outside stays text', async () => {
    const page = await context.newPage();
    const said = complaintsOf(page);
    await page.clock.install();
    // Others who change something are followed after a rest, twenty times as long.
    const takesLong = async (route: Route) => {
      await page.clock.fastForward(30_000);
      await route.continue();
    };
    await page.route('**/timeline*', takesLong, { times: 1 });
    await page.goto(await sandbox.address(card));
    await page.getByText('live', { exact: true }).waitFor();
    const form = 'form[data-form="simulate.authorize"]';
    const amount = page.locator(`${form} input:enabled`).first();
    await amount.focus();
    await page.keyboard.type('4');

    // A change makes the view ask anew.
    const busy = { error: 'service_unavailable', message: 'The store is busy.', code: 503 };
    await page.route(/\/cards\/card_\w+$/, route => route.fulfill({ status: 503, json: busy }), { times: 1 });
    const refused = page.waitForResponse(answer => answer.status() === 503);
    await sandbox.run(`sandbox simulate authorize --card ${card} --amount 0.01 -q`);
    await refused;
    await page.keyboard.type('0');

    await page.route('**/marks', route => route.abort(), { times: 1 });
    await page.getByText('The sandbox does not answer').waitFor();
    await page.keyboard.type('00');
    await page.getByText('live', { exact: true }).waitFor();
    await page.keyboard.press('Tab');
    expect(await amount.inputValue()).toBe('4000');
    await page.keyboard.type(HOSTILE);
    await page.getByRole('table', { name: 'What happened to the card' }).waitFor();
    const rows = page.getByRole('row').filter({ hasText: 'Why?' });
    const before = await rows.count();
    await page.getByRole('button', { name: 'Purchase' }).click();
    await page.getByRole('status').getByText('declined', { exact: true }).waitFor();
    await rows.nth(before).waitFor();
    const decline = rows.filter({ hasText: '$4,000.00' });
    expect(await decline.innerText()).toContain('<img src=x onerror=alert(1)>\\u{202e}txt 珈琲店 مقهى');
    expect(await page.locator('img, iframe, script:not([src])').count()).toBe(0);
    await decline.getByRole('link', { name: 'Why?' }).press('Enter');
    await page.getByText(/insufficient funds: amount \$4,000\.00 against/).waitFor();

    await page.keyboard.press('r');
    const filter = page.getByRole('textbox', { name: 'Status' });
    await filter.focus();
    await page.keyboard.type('5');
    for (let nth = 0; nth < 2; nth += 1) await page.waitForResponse('**/marks');
    await page.keyboard.type('99');
    expect(await filter.inputValue()).toBe('599');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing fits.').waitFor();
    // What was refused and cut off here says so itself.
    expect(said.filter(line => !/503|ERR_FAILED/.test(line))).toEqual([]);
  });
});

/** In the page: before anything else can happen, `i` at the first view, and where the focus is at the next. */
function typeWhereAHeadingStands(): void {
  let last = '';
  new MutationObserver(() => {
    const heading = document.querySelector('h1')?.textContent ?? '';
    if (heading === last) return;
    last = heading;
    if (heading === 'Overview') {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'i', bubbles: true }));
    } else if (heading === 'Ledger check') {
      Object.assign(window, { focused: document.activeElement?.textContent });
    }
  }).observe(document, { childList: true, subtree: true, characterData: true });
}
