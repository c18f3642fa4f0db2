/**
 * Pictures of every view and of every state of the page, for a person to look at: light at 1280 px, dark at 390. They are
 * never compared. `CARDWRIGHT_PICTURES` names the folder they go to; without it there are none.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Inspected, inspected, launched, noBrowser, type Page } from '../support/browser.ts';
import { type Filled, filled } from './filled.ts';

const folder = process.env['CARDWRIGHT_PICTURES'];

describe.skipIf(noBrowser !== undefined || folder === undefined)('pictures of every view', () => {
  let sandbox: Inspected;
  let browser: Awaited<ReturnType<typeof launched>>;
  let page: Page;
  let ids: Filled;

  beforeAll(async () => {
    await mkdir(folder ?? '', { recursive: true });
    sandbox = await inspected(['--data', 'demo', '--seed', '7']);
    browser = await launched();
    ids = await filled(sandbox);
    page = await browser.newPage();
    await page.goto(await sandbox.address());
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox?.[Symbol.asyncDispose]();
  });

  const views = (): readonly (readonly [string, string])[] => [
    ['overview', '/'],
    ['cards', '/cards'],
    ['cards-nothing', '/cards?q=no+such+card'],
    ['card', `/cards/${ids.card}`],
    ['card-busy', `/cards/${ids.busy}`],
    ['card-none', '/cards/card_none'],
    ['why', `/why/${ids.decline}`],
    ['why-forced', `/why/${ids.forced}`],
    ['why-approved', `/why/${ids.approved}`],
    ['requests', '/requests'],
    ['requests-turned', '/requests?turned=1'],
    ['requests-acts', '/requests?acts=1'],
    ['request', `/requests/${ids.request}`],
    ['webhooks', '/webhooks'],
    ['delivery', `/webhooks/${ids.delivery}`],
    ['clock', '/clock'],
    ['faults', '/faults'],
    ['simulate', '/simulate'],
    ['snapshots', '/snapshots/before'],
    ['scenarios', `/scenarios?card=${ids.card}`],
    ['invariants', '/invariants'],
    ['nothing', '/nothing'],
  ];

  for (const [width, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const)
    it(`at ${width} px, ${colorScheme}`, async () => {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      for (const [name, hash] of views()) {
        await page.evaluate(to => {
          location.hash = to;
        }, hash);
        await page.waitForTimeout(300);
        await page.getByText('Loading …').waitFor({ state: 'detached' });
        await page.screenshot({ path: join(folder ?? '', `${name}-${width}.png`), fullPage: true });
      }
    });
});
