/** What the inspector can do beside the ten jobs: scenarios, a list of many pages, keys that are off. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complaintsOf, type Inspected, inspected, launched, noBrowser, type Page } from '../support/browser.ts';

describe.skipIf(noBrowser !== undefined)('in the page', () => {
  let sandbox: Inspected;
  let browser: Awaited<ReturnType<typeof launched>>;
  let page: Page;
  let said: string[];

  beforeAll(async () => {
    sandbox = await inspected(['--data', 'load', '--cards', '3000', '--transactions', '100', '--seed', '7']);
    browser = await launched();
    page = await browser.newPage();
    said = complaintsOf(page);
    await page.goto(await sandbox.address());
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await sandbox?.[Symbol.asyncDispose]();
  });

  it('goes through 3,000 cards page by page, and finds one of them', async () => {
    await page.keyboard.press('c');
    const { data } = (await sandbox.json('--sandbox cards list --all --json')) as { data: { last4: string }[] };
    const firstIs = (nth: number) => page.locator('tbody tr a').first().getByText(`•••• ${data[nth]?.last4}`).waitFor();
    const step = (name: string) => page.getByRole('button', { name }).click();
    await page.getByText('Page 1 of 60, 3,000 in all').waitFor();
    await firstIs(0);
    await step('Older');
    await firstIs(50);
    await step('Last');
    await page.getByText('Page 60 of 60, 3,000 in all').waitFor();
    await firstIs(2_950);
    await step('Newer');
    await firstIs(2_900);
    await step('First');
    await firstIs(0);
    await page.keyboard.press('j');
    await page.locator('tbody tr:first-child a:focus').waitFor();
    await page.getByRole('searchbox').fill(data[7]?.last4 ?? '');
    await page.getByText(/^[1-9]\d? in all$/).waitFor();
  });

  it('checks a text, plays it, and says what was not as expected', async () => {
    const card = (await sandbox.run('--sandbox cards create --bin auto --amount 20 --yes -q')).trim();
    await page.evaluate(() => {
      location.hash = '/scenarios';
    });
    const text = page.getByLabel('Scenario, in YAML');
    await text.fill(`scenario: one\nsteps:\n  - simulate.authorize: {card_id: ${card}, amount: 5}\n`);
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByText('as expected', { exact: true }).waitFor();
    await page.getByRole('cell', { name: 'simulate.authorize' }).waitFor();

    await text.fill('scenario: wrong\nsteps:\n  - cards.paint: {}\n');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('"cards.paint" is no operation of a scenario').waitFor();
    await text.fill('scenario: other\nsteps:\n  - wallet.get: {}\n    expect: {balance: 1}\n');
    await page.getByRole('button', { name: 'Play' }).click();
    await page
      .getByText(/balance.*expected/i)
      .first()
      .waitFor();
  });

  it('keeps the text of an example, and what came of it, although its first step replaces everything', async () => {
    await page.getByRole('button', { name: 'hold.yaml' }).click();
    await page.getByRole('button', { name: 'Play' }).click();
    const outcome = page.getByText(/^As expected: (\d+) of \1 steps were as expected/);
    await outcome.waitFor();
    await page.getByText('Everything in the sandbox was replaced').waitFor();
    expect(await page.getByLabel('Scenario, in YAML').inputValue()).toContain('reset');
    expect(await outcome.count()).toBe(1);
    await page.getByRole('button', { name: 'Close' }).click();
  });

  it('says that everything was replaced, and leaves letters alone when they are off', async () => {
    await sandbox.run('sandbox reset --data demo --yes -q');
    await page.getByText('Everything in the sandbox was replaced').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.evaluate(() => {
      (document.activeElement as HTMLElement).blur();
      location.hash = '/clock';
    });
    await page.getByRole('heading', { level: 1, name: 'Clock' }).waitFor();
    await page.keyboard.press('?');
    await page.getByLabel('Letters are on').uncheck();
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press('c');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Clock');
    await page.getByLabel('Letters are on').check();
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press('c');
    await page.getByRole('heading', { level: 1, name: 'Cards' }).waitFor();
    expect(said.filter(line => !/40[049]/.test(line))).toEqual([]);
  });
});
