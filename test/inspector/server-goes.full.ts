/** What an open page shows while its server is ended, started again, replaced, busy, newer or broken. */
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Inspected, inspected, launched, noBrowser, type Page } from '../support/browser.ts';
import { LOOKS, picture } from './picture.ts';

describe.skipIf(noBrowser !== undefined)('under an open page', () => {
  let sandbox: Inspected;
  let browser: Awaited<ReturnType<typeof launched>>;
  let page: Page;
  let card: string;

  beforeAll(async () => {
    [sandbox, browser] = await Promise.all([inspected(['--data', 'demo', '--seed', '7']), launched()]);
    card = await sandbox.run("--sandbox cards create --bin auto --amount 50 --label 'only here' --yes -q");
  });
  beforeEach(async () => {
    page = await (await browser.newContext()).newPage();
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox?.[Symbol.asyncDispose]();
  });

  const open = async (what: string, heading: string) => {
    await page.goto(await sandbox.address(what));
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
  };
  const pictures = async (name: string) => {
    for (const look of LOOKS) await picture(page, `state-${name}`, look);
  };
  const text = () => page.locator('body').innerText();

  it('everything stays and forms are off while it is gone; a server that starts again knows no session', async () => {
    await open(card, 'Card');
    await page.getByText('only here').first().waitFor();
    const purchase = page.getByRole('button', { name: 'Purchase' });
    expect(await purchase.isEnabled()).toBe(true);
    await sandbox.end('SIGKILL');
    await page.getByText(/The sandbox does not answer; this is as of/).waitFor();
    expect(await text()).toContain(`cardwright sandbox start --port ${new URL(sandbox.url).port}`);
    expect(await text()).toContain('only here');
    expect(await purchase.isDisabled()).toBe(true);
    await pictures('stopped');
    await sandbox.startAgain();
    await page.getByRole('heading', { level: 1, name: 'No session' }).waitFor();
    expect(await text()).not.toContain('only here');
    await pictures('session-over');
    // A ticket that is typed over the address opens it again where it leads; the document stays the same one.
    await page.evaluate(() => Object.assign(window, { isSame: true }));
    await open(card, 'Card');
    await page.getByText('only here').first().waitFor();
    expect(await page.evaluate(() => 'isSame' in window)).toBe(true);
    // One that leads nowhere leaves the page where it is.
    await page.goto(await sandbox.address());
    await page.waitForURL(`${sandbox.origin}/_sandbox/#/cards/${card}`);
    await page.getByText('only here').first().waitFor();
  });

  it('a ticket that is pasted into the page without a session opens it; another text says what is wrong', async () => {
    await open(card, 'Card');
    const used = await sandbox.address(card);
    await sandbox.run('sandbox open --end -q');
    await page.getByRole('heading', { level: 1, name: 'No session' }).waitFor();
    const paste = async (text: string) => {
      await page.locator('#ticket').fill(text);
      await page.getByRole('button', { name: 'Open' }).click();
    };
    await paste('no ticket');
    await page.getByText('Paste the whole address').waitFor();
    await paste(used);
    await page
      .getByRole('alert')
      .getByText(/ticket/)
      .waitFor();
    await paste(await sandbox.address(card));
    await page.getByText('only here').first().waitFor();
    // One that is used leaves a session as it is, and says so where there is none.
    await page.goto(used);
    await page.waitForURL(`${sandbox.origin}/_sandbox/#/cards/${card}`);
    await page.getByText('live', { exact: true }).waitFor();
    const other = await (await browser.newContext()).newPage();
    await other.goto(used);
    await other.getByRole('alert').getByText('This ticket is used or over.').waitFor();
    expect(other.url()).not.toContain('#t=');
    await other.context().close();
  });

  it('an order that is under way when it is killed has an unknown outcome, and is not sent again', async () => {
    await open(card, 'Card');
    const asked: string[] = [];
    page.on('request', request => request.method() === 'POST' && asked.push(request.url()));
    await page.route('**/simulate/authorizations', async route => {
      await sandbox.end('SIGKILL');
      await route.continue();
    });
    await page.getByLabel('amount', { exact: true }).fill('5');
    await page.getByRole('button', { name: 'Purchase' }).click();
    await page.getByText('No answer came: whether it happened is unknown. Look before you send it again.').waitFor();
    await pictures('unknown');
    await sandbox.startAgain();
    await page.getByRole('heading', { level: 1, name: 'No session' }).waitFor();
    expect(asked.length).toBe(1);
  });

  it('a reset, a restore and an import are told, and an address of something gone says so', async () => {
    await sandbox.run('sandbox snapshot save here -q');
    const file = join(sandbox.place.folder, 'everything.tar');
    await sandbox.run(`sandbox export ${file} -q`);
    await open(card, 'Card');
    const told = page.getByText('Everything in the sandbox was replaced');
    const close = async () => {
      await told.waitFor();
      await page.getByRole('button', { name: 'Close' }).click();
      await told.waitFor({ state: 'detached' });
    };
    await sandbox.run('sandbox reset --data demo --seed 3 --yes -q');
    await told.waitFor();
    await page.getByText(`no card ${card}`).waitFor();
    await pictures('replaced');
    await close();
    await sandbox.run('sandbox snapshot restore here --yes -q');
    await close();
    await page.getByText('only here').first().waitFor();
    await sandbox.run('sandbox reset --data empty --yes -q');
    await close();
    await sandbox.run(`sandbox import ${file} --yes -q`);
    await close();
    await page.getByText('only here').first().waitFor();
  });

  it('what the server refuses stands at its field, and what was typed stays', async () => {
    await open(card, 'Card');
    await page.getByLabel('amount', { exact: true }).fill('0');
    await page.getByRole('button', { name: 'Purchase' }).click();
    await page.getByRole('alert').getByText('At least $0.01.').waitFor();
    expect(await page.getByLabel('amount', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('amount', { exact: true }).inputValue()).toBe('0');
    await pictures('refused');
    const bought = (await sandbox.run(`sandbox simulate authorize --card ${card} --amount 1 -q`)).trim();
    await sandbox.run(`sandbox simulate settle ${bought} -q`);
    await open(bought, '$1.00 at COFFEE SHOP');
    await page.locator('summary', { hasText: 'Refund' }).click();
    await page.locator('#simulate-refund-amount').fill('2');
    await page.getByRole('button', { name: 'Refund' }).click();
    await page.locator('#simulate-refund-amount-problem', { hasText: '1.00 USD can be refunded' }).waitFor();
    await page.evaluate(() => {
      location.hash = '/simulate';
    });
    await page.locator('#simulate-authorize-card_id').fill('here');
    await page.locator('#simulate-authorize-amount').fill('1');
    await page.getByRole('button', { name: 'Simulate' }).click();
    await page.locator('#simulate-authorize-card_id-problem', { hasText: 'Choose one from the list.' }).waitFor();
    await page.evaluate(() => {
      location.hash = '/simulate/simulate.deposit';
    });
    await page.locator('#simulate-deposit-currency').selectOption('btc');
    await page.getByRole('button', { name: 'Simulate' }).click();
    const either = 'Needed: either amount or crypto amount.';
    await page.locator('#simulate-deposit-amount-problem', { hasText: either }).waitFor();
  });

  it('a store that is busy has done nothing, and the form sends it again', async () => {
    await open(card, 'Card');
    const busy = { error: 'service_unavailable', message: 'The store is busy.', code: 503 };
    await page.route('**/simulate/authorizations', route => route.fulfill({ status: 503, json: busy }), { times: 1 });
    await page.getByLabel('amount', { exact: true }).fill('1');
    await page.getByRole('button', { name: 'Purchase' }).click();
    await page.getByText('The store is busy. Nothing happened.').waitFor();
    await pictures('busy');
    await page.getByRole('button', { name: 'Purchase' }).click();
    await page.getByRole('status').getByText('approved', { exact: true }).waitFor();
  });

  it('a newer server is told in every view', async () => {
    const marks = page.waitForResponse('**/marks');
    await open('overview', 'Overview');
    const json = { ...(await (await marks).json()), version: '99.0.0' };
    await page.route('**/marks', route => route.fulfill({ json }));
    await page.getByText('The server is version 99.0.0').waitFor();
    await page.getByRole('button', { name: 'Load anew' }).waitFor();
    for (const view of ['cards', 'clock', 'scenarios']) {
      await page.evaluate(to => {
        location.hash = `/${to}`;
      }, view);
      await page.getByText('The server is version 99.0.0').waitFor();
    }
    await pictures('newer');
  });

  it('a view that takes its time comes to its end although something changes all the while', async () => {
    await page.route('**/overview', async route => {
      await page.waitForTimeout(1_500);
      await route.continue();
    });
    let isOver = false;
    const changing = (async () => {
      while (!isOver) await sandbox.run(`sandbox simulate authorize --card ${card} --amount 0.01 -q`);
    })();
    await open('overview', 'Overview');
    await page.locator('.amounts').waitFor();
    isOver = true;
    await changing;
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
});
