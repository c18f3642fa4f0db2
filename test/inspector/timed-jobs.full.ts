/** Ten jobs of a test engineer, the same in Chromium and in Firefox, timed. */
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { complaintsOf, inspected, launched, noBrowser } from '../support/browser.ts';
import { type FirefoxPage, firefoxPage, noFirefox } from '../support/firefox.ts';

/** What both browsers do for a job. */
type JobPage = Pick<FirefoxPage, 'goto' | 'evaluate' | 'until' | 'type' | 'said'> & AsyncDisposable;

async function chromiumPage(): Promise<JobPage> {
  const browser = await launched();
  const page = await browser.newPage();
  return {
    said: complaintsOf(page),
    goto: async url => void (await page.goto(url)),
    evaluate: work => page.evaluate(work as string),
    until: expression => expect.poll(() => page.evaluate(expression).catch(() => false)).toBe(true),
    async type(field, text) {
      await page.locator(field).selectText();
      await page.keyboard.type(text);
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

describe.each([
  { name: 'chromium', missing: noBrowser, open: chromiumPage },
  { name: 'firefox', missing: noFirefox, open: firefoxPage },
])('the inspector in $name', ({ name: browser, missing, open }) => {
  it.skipIf(missing !== undefined)(
    'plays ten jobs, from a purchase that is declined to a ticket that is pasted',
    async () => {
      await using sandbox = await inspected(['--data', 'demo', '--seed', '7']);
      await sandbox.run('--sandbox webhooks create --url http://127.0.0.1:9/hook --event * --yes -q');
      const card = (await sandbox.run('--sandbox cards create --bin auto --amount 50 --yes -q')).trim();
      await sandbox.run(`sandbox simulate challenge --card ${card} --amount 9 -q`);
      await using page: JobPage = await open();
      const says = (text: string) => page.until(`document.body.innerText.includes(${JSON.stringify(text)})`);
      const click = async (text: string) => {
        const found = `[...document.querySelectorAll('a, button, summary')].find(each => each.innerText.trim().startsWith(${JSON.stringify(text)}) && !each.matches(':disabled'))`;
        await page.until(`${found} !== undefined`);
        await page.evaluate(`${found}.click()`);
      };
      const type = async (field: string, text: string) => {
        const found = `document.querySelector(${JSON.stringify(field)})`;
        await page.until(`${found} !== null && !${found}.matches(':disabled')`);
        await page.type(field, text);
      };
      const show = (hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      const jobs: readonly (readonly [string, () => Promise<void>])[] = [
        [
          'says that an amount is none, at its field',
          async () => {
            await page.goto(await sandbox.address(card));
            await type('#simulate-authorize-amount', 'abc');
            await click('Purchase');
            await says('Type an amount such as 12.50.');
          },
        ],
        [
          'says why a purchase was declined',
          async () => {
            await type('#simulate-authorize-amount', '95');
            await click('Purchase');
            await click('Why: the checks');
            await says('insufficient funds: amount $95.00 against available $50.00');
          },
        ],
        [
          'finds the purchase by its amount',
          async () => {
            await show('/transactions');
            await type('#search', '95.00');
            await says('1 in all');
          },
        ],
        [
          'confirms the deposit',
          async () => {
            await show('/deposits?status=pending');
            await click('Confirm');
            await says('Nothing fits.');
            await says('Confirm: done');
          },
        ],
        [
          'answers the challenge',
          async () => {
            await show('/challenges?status=pending&q=9.00');
            await click('$9.00');
            await click('Answer');
            await says('approved');
          },
        ],
        [
          'says which delivery failed and why, once time has passed, and finds it by its day',
          async () => {
            const day = await page.evaluate<undefined, string>(
              `document.querySelector('.state a').innerText.slice(0, 10)`,
            );
            await show('/clock');
            await type('#clock-advance-by', '2d');
            await click('Advance');
            await says('happened:');
            await show('/webhooks?state=failed&day=2020-01-01');
            await says('Nothing fits.');
            await show(`/webhooks?state=failed&day=${day}`);
            await says('connection refused');
          },
        ],
        [
          'sends it again',
          async () => {
            await click('transaction.declined');
            await click('Redeliver');
            await click('follow this delivery');
            await says('Delivery of transaction.declined');
            await says('It goes by itself');
          },
        ],
        [
          'adds a fault',
          async () => {
            await show('/faults');
            await click('The next one fails (500)');
            await click('Add');
            await says('Added flt_');
          },
        ],
        [
          'saves a snapshot',
          async () => {
            await show('/snapshots');
            await type('#snapshots-save-name', 'before');
            await click('Save');
            await says('before');
          },
        ],
        [
          'takes a ticket that is pasted into the open page',
          async () => {
            await sandbox.run('sandbox open --end -q');
            await says('No session');
            await type('#ticket', await sandbox.address());
            await click('Open');
            await page.until(`document.querySelector('h1')?.innerText === 'Snapshots'`);
          },
        ],
      ];
      for (const [name, play] of jobs) {
        const began = performance.now();
        await play();
        process.stdout.write(`${browser}: ${name}: ${Math.round(performance.now() - began)} ms\n`);
      }
      expect(page.said.filter(line => !/40[139]/.test(line))).toEqual([]);
      expect(await page.evaluate('document.referrer')).toBe('');
    },
    300_000,
  );
});
