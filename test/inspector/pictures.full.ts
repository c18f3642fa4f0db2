/** Pictures of every view, with data that are long, foreign, forced and repeated. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Inspected, inspected, launched, noBrowser, type Page } from '../support/browser.ts';
import { type Filled, filled } from './filled.ts';
import { LOOKS, picture, picturesFolder } from './picture.ts';
import { showView } from './show-view.ts';

describe.skipIf(noBrowser !== undefined || picturesFolder === undefined)('pictures of every view', () => {
  let sandbox: Inspected;
  let browser: Awaited<ReturnType<typeof launched>>;
  let page: Page;
  let ids: Filled;

  beforeAll(async () => {
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
    ['transactions', '/transactions'],
    ['transaction-declined', `/transactions/${ids.decline}`],
    ['transaction-forced', `/transactions/${ids.forced}`],
    ['transaction-approved', `/transactions/${ids.approved}`],
    ['challenges', '/challenges'],
    ['deposits', '/deposits'],
    ['requests', '/requests'],
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

  for (const look of LOOKS)
    it(`at ${look.width} px, ${look.colorScheme}${look.zoom === 1 ? '' : ', at 200 %'}`, async () => {
      await page.setViewportSize({ width: look.width / look.zoom, height: 900 });
      for (const [name, hash] of views()) {
        await showView(page, hash);
        await picture(page, name, look);
      }
    });

  it('of a scenario whose third step is not as expected', async () => {
    const steps = ['wallet.get: {}', 'bins.list: {}', 'wallet.get: {}\n    expect: {balance: 1}', 'wallet.get: {}'];
    await page.evaluate(() => {
      location.hash = '/scenarios';
    });
    await page
      .getByLabel('Scenario, in YAML')
      .fill(`scenario: Played\nsteps:\n${steps.map(step => `  - ${step}\n`).join('')}`);
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByText('Failed: 2 of 4 steps were as expected.').waitFor();
    for (const look of LOOKS) await picture(page, 'scenarios-played', look);
  });
});
