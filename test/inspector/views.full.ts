/** Every view, light and dark, at 1280 and 390 px: axe, nothing sideways, nothing on the console, and its command. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AXE,
  AXE_OBJECTS,
  type BrowserContext,
  complaintsOf,
  type Inspected,
  inspected,
  launched,
  noBrowser,
  objections,
  type Page,
} from '../support/browser.ts';
import { firefoxPage, noFirefox } from '../support/firefox.ts';
import { type Filled, filled } from './filled.ts';
import { showView } from './show-view.ts';

/** Members of an answer that a view says otherwise, each with its reason. */
const SAID_OTHERWISE: Readonly<Record<string, string>> = {
  at: 'times stand as date and time',
  page: 'the pages of a list have words of their own',
  body: 'a request in a list shows its body when it is opened',
  attempts: 'a delivery in a list shows its attempts when it is opened',
  text: 'the text of an example scenario stands in the field when it is taken',
  mcc: 'a transaction in a list shows it when it is opened',
  merchant_country: 'a transaction in a list shows it when it is opened',
  authorization_id: 'a transaction in a list shows it when it is opened',
  currency: 'an amount has its sign',
  otp: 'a code stands behind a step',
  url: 'an address stands without its path, which may hold a secret',
  result: 'a check passed, failed or was not reached',
  outcome: 'said in a sentence',
  action: 'shown as JSON',
  match: 'shown as JSON',
  meets: 'the rule itself is shown',
  does: 'the rule itself is shown',
  answer: 'laid out on lines of its own',
};

const money = (amount: number) =>
  amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const shortTime = (iso: string) => iso.replace('T', ' ').replace(/(?:\.\d+)?Z$/, '');

/** What a person may read in place of a value: `1,088.00` for 1088. */
function spellings(value: string | number | boolean): readonly string[] {
  if (typeof value === 'boolean') return [];
  const text = String(value);
  if (typeof value === 'string') {
    const words = text.replace('three_ds', '3DS').replace('authorization', 'purchase').replaceAll('_', ' ');
    const inMoney = words.replace(/(?<= )\d+\.\d\d/g, sum => `$${money(Number(sum))}`);
    return [text, shortTime(text), shortTime(words), text.replaceAll('_', ' '), inMoney, text.replace(/^"|"$/g, '')];
  }
  return [text, value.toLocaleString('en-US'), money(Math.abs(value))];
}

/** Values of an answer with the way to them; what is null says nothing. */
function leaves(value: unknown, path: string): readonly (readonly [string, string | number | boolean])[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [[path, value as string]];
  return Object.entries(value).flatMap(([name, each]) =>
    SAID_OTHERWISE[name] === undefined ? leaves(each, `${path}.${name}`) : [],
  );
}

describe.skipIf(noBrowser !== undefined)('every view', () => {
  let sandbox: Inspected;
  let browser: Awaited<ReturnType<typeof launched>>;
  let context: BrowserContext;
  let page: Page;
  let said: string[];
  let ids: Filled;

  beforeAll(async () => {
    sandbox = await inspected(['--data', 'demo', '--seed', '7']);
    browser = await launched();
    ids = await filled(sandbox);
    // Nothing happens by itself while a view is compared with its command.
    await sandbox.run('sandbox clock set frozen -q');
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
    ['Transactions', '/transactions'],
    ['$99.00', `/transactions/${ids.decline}`],
    ['$30.00', `/transactions/${ids.approved}`],
    ['3DS challenges', '/challenges'],
    ['Deposits', '/deposits'],
    ['Requests', '/requests'],
    ['Request', `/requests/${ids.request}`],
    ['Webhooks', '/webhooks'],
    ['Delivery', `/webhooks/${ids.delivery}`],
    ['Clock', '/clock'],
    ['Faults', '/faults'],
    ['Simulate', '/simulate'],
    ['Snapshots', '/snapshots'],
    ['Scenarios', '/scenarios'],
    ['Ledger check', '/invariants'],
    ['No such view', '/nothing'],
  ];
  const show = async (name: string, hash: string) => {
    await showView(page, hash);
    await page.getByRole('heading', { level: 1, name }).waitFor();
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

  it.skipIf(noFirefox !== undefined)('at 1280 and 390 px in Firefox', async () => {
    await using firefox = await firefoxPage();
    await firefox.goto(await sandbox.address());
    const wrong: unknown[] = [];
    for (const width of [1280, 390]) {
      await firefox.setSize(width, 900);
      for (const [name, hash] of views()) {
        await firefox.evaluate(`location.hash = ${JSON.stringify(hash)}`);
        await firefox.until(`document.querySelector('h1')?.innerText.startsWith(${JSON.stringify(name)})`);
        await firefox.until(
          `!/Loading …/.test(document.body.innerText) && !document.querySelector('[aria-busy=true]')`,
        );
        const sideways = await firefox.evaluate('document.documentElement.scrollWidth - innerWidth');
        await firefox.evaluate(`${AXE};0`);
        const found = JSON.parse(await firefox.evaluate(AXE_OBJECTS)) as readonly string[];
        if (Number(sideways) > 0 || found.length > 0) wrong.push([width, hash, sideways, ...found]);
      }
    }
    expect(wrong).toEqual([]);
    expect(firefox.said.filter(line => !line.includes('404'))).toEqual([]);
  });

  it('names a command that works and holds every amount that is seen', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    // The entries of one purchase have no command, those of its card do; what is on hold stands in that of one card.
    for (const [name, hash] of views().filter(([, hash]) => !/none|nothing|transactions.txn|cards$/.test(hash))) {
      await show(name, hash);
      const lines = await page
        .locator('[data-command]')
        .evaluateAll(all => all.map(each => (each as HTMLElement).dataset['command']));
      if (lines.length === 0) continue;
      // Nothing on hold and nothing left are 0 and in no command.
      const numbers = new Set(['0.00']);
      for (const line of lines) {
        // The page itself and a topic of help have no amounts.
        if (line === undefined || /sandbox open$|help scenarios$/.test(line)) continue;
        const told = await sandbox.run(`${line.replace(/^cardwright /, '')} --json`);
        for (const found of told.matchAll(/-?\d+(?:\.\d+)?/g)) numbers.add(Math.abs(Number(found[0])).toFixed(2));
      }
      const seen = await page.locator('main td.number, main .amounts b').allInnerTexts();
      const amounts = seen
        .map(text => text.replaceAll(',', '').replace(/^[+−]?\$/, ''))
        .filter(text => /^\d+\.\d\d$/.test(text));
      expect([hash, amounts.filter(amount => !numbers.has(amount))]).toEqual([hash, []]);
    }
  });

  it('says everything that its command says', async () => {
    await page.setViewportSize({ width: 1280, height: 4_000 });
    for (const [name, hash] of views().filter(([, hash]) => !/none|nothing|no\+such/.test(hash))) {
      await show(name, hash);
      const lines = await page
        .locator('[data-command]')
        .evaluateAll(all => all.map(each => (each as HTMLElement).dataset['command']));
      const seen = await page.evaluate(() => {
        const said = [...document.querySelectorAll('#page *')].flatMap(each => [
          each.getAttribute('title') ?? '',
          each.getAttribute('href') ?? '',
          (each as HTMLInputElement).value ?? '',
        ]);
        return `${document.querySelector('#page')?.textContent} ${said.join(' ')}`;
      });
      const left: string[] = [];
      for (const line of lines) {
        // A check is asked for by a button; the examples of scenarios stand on theirs. Four commands tell more: whole
        // cards, what is spent and growing, what is pending and declined of a day, and the page itself.
        if (line === undefined || /sandbox (?:check|open)$|help scenarios$|overview$|cards list|tx summary/.test(line))
          continue;
        const told = await sandbox.json(`${line.replace(/^cardwright /, '')} --json`);
        const missing = leaves(told, '').filter(
          ([, value]) => typeof value !== 'boolean' && !spellings(value).some(text => seen.includes(text)),
        );
        left.push(...missing.map(([path, value]) => `${line}: ${path} ${value}`));
      }
      expect.soft([hash, [...new Set(left.map(each => each.replace(/\.\d+\./g, '.n.')))]]).toEqual([hash, []]);
    }
  });
});
