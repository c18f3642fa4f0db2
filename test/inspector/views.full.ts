/** Every view, light and dark, at 1280 and 390 px: axe, nothing sideways, nothing on the console, and its command. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BrowserContext,
  complaintsOf,
  type Inspected,
  inspected,
  launched,
  noBrowser,
  objections,
  type Page,
} from '../support/browser.ts';

const LONG = '广告 التسويق <b>bold</b> a label as long as one may be, no more';

describe.skipIf(noBrowser !== undefined)('every view', () => {
  let sandbox: Inspected;
  let browser: Awaited<ReturnType<typeof launched>>;
  let context: BrowserContext;
  let page: Page;
  let said: string[];
  const ids = { card: '', txn: '', req: '', dlv: '' };

  beforeAll(async () => {
    sandbox = await inspected(['--data', 'demo', '--seed', '7']);
    browser = await launched();
    await sandbox.run('--sandbox webhooks create --url http://127.0.0.1:9/hook --events * --yes -q');
    ids.card = await sandbox.run(`--sandbox cards create --bin auto --amount 50 --label '${LONG}' --yes -q`);
    ids.txn = await sandbox.run(`sandbox simulate authorize --card ${ids.card} --amount 99 --merchant '${LONG}' -q`);
    await sandbox.run(`sandbox simulate challenge --card ${ids.card} --amount 9 -q`);
    await sandbox.run('sandbox snapshot save before -q');
    await sandbox.run(`sandbox simulate authorize --card ${ids.card} --amount 9 -q`);
    const first = async (line: string, name: string) =>
      ((await sandbox.json(line)) as { data: readonly Record<string, string>[] }).data[0]?.[name] ?? '';
    ids.req = await first('sandbox requests --json', 'request_id');
    ids.dlv = await first('sandbox deliveries list --json', 'id');
    context = await browser.newContext();
    page = await context.newPage();
    said = complaintsOf(page);
    await page.goto(await sandbox.address());
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox?.[Symbol.asyncDispose]();
  });

  const views = (): readonly (readonly [string, string])[] => [
    ['Overview', '/'],
    ['Cards', '/cards'],
    ['Cards', '/cards?q=no+such+card'],
    ['Card', `/cards/${ids.card}`],
    ['Card', '/cards/card_none'],
    ['Why?', `/why/${ids.txn}`],
    ['Requests', '/requests'],
    ['Requests', '/requests?turned=1'],
    ['Requests', '/requests?acts=1'],
    ['Request', `/requests/${ids.req}`],
    ['Webhooks', '/webhooks'],
    ['Delivery', `/webhooks/${ids.dlv}`],
    ['Clock', '/clock'],
    ['Faults', '/faults'],
    ['Simulate', '/simulate'],
    ['Snapshots', '/snapshots/before'],
    ['Scenarios', '/scenarios'],
    ['Scenarios', `/scenarios?card=${ids.card}`],
    ['Invariants', '/invariants'],
    ['No such view', '/nothing'],
  ];
  const show = async (name: string, hash: string) => {
    await page.evaluate(to => {
      location.hash = to;
    }, hash);
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await expect.poll(() => page.getByText('Loading …').count(), { timeout: 20_000 }).toBe(0);
  };

  for (const width of [1280, 390])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`at ${width} px, ${colorScheme}`, async () => {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        const wrong: unknown[] = [];
        for (const [name, hash] of views()) {
          await show(name, hash);
          const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          const found = await objections(context, page);
          if (sideways > 0 || found.length > 0) wrong.push([hash, sideways, ...found]);
          expect(await page.locator('h1').count(), hash).toBe(1);
        }
        expect(wrong).toEqual([]);
        // What is not there is answered 404, and that is all a console may say.
        expect(said.filter(line => !line.includes('404'))).toEqual([]);
      });

  it('names a command that works and holds every amount that is seen', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    for (const [name, hash] of views().filter(([, hash]) => !/none|nothing/.test(hash))) {
      await show(name, hash);
      const lines = await page
        .locator('[data-command]')
        .evaluateAll(all => all.map(each => (each as HTMLElement).dataset['command']));
      const numbers = new Set<string>();
      for (const line of lines) {
        const told = await sandbox.run(`${line?.replace(/^cardwright /, '')} --json`);
        for (const found of told.matchAll(/-?\d+(?:\.\d+)?/g)) numbers.add(Math.abs(Number(found[0])).toFixed(2));
      }
      const seen = await page.locator('main td.number, main .amounts b').allInnerTexts();
      const amounts = seen
        .map(text => text.replaceAll(',', '').replace(/^[+−]/, ''))
        .filter(text => /^\d+\.\d\d$/.test(text));
      expect([hash, amounts.filter(amount => !numbers.has(amount))]).toEqual([hash, []]);
    }
  });
});
