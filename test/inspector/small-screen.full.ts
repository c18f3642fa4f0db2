/** A page of 360 px, a session that may only look, a second ticket in the same browser, and answers that go on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Inspected, inspected, launched, noBrowser, type Page } from '../support/browser.ts';
import { type Filled, filled } from './filled.ts';

describe.skipIf(noBrowser !== undefined)('the page', () => {
  let sandbox: Inspected;
  let made: Filled;
  let browser: Awaited<ReturnType<typeof launched>>;

  beforeAll(async () => {
    [sandbox, browser] = await Promise.all([inspected(['--data', 'demo', '--seed', '7']), launched()]);
    made = await filled(sandbox);
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox?.[Symbol.asyncDispose]();
  });

  const begun = async (page: Page, flags = '') => {
    await page.goto(await sandbox.address(flags));
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  };
  const goTo = async (page: Page, view: string, heading: string) => {
    await page.goto(`${sandbox.origin}/_sandbox/#/${view}`);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await page.locator('table').first().waitFor();
  };

  it('shows times, addresses and subscriptions at 360 px beside a scrollbar of 12, and nothing sideways', async () => {
    const page = await (await browser.newContext({ viewport: { width: 348, height: 800 } })).newPage();
    await begun(page);
    for (const view of ['cards', 'transactions', 'deposits', 'requests', 'webhooks']) {
      await goTo(page, view, `${view[0]?.toUpperCase()}${view.slice(1)}`);
      const row = await page.locator('tbody tr').first().innerText();
      expect(row, view).toMatch(view === 'webhooks' ? /127\.0\.0\.1:9/ : /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/);
      const sideways = await page
        .locator('.scroll, html')
        .evaluateAll(all =>
          all
            .map(box => [box.getAttribute('aria-label'), box.scrollWidth - box.clientWidth])
            .filter(([, px]) => px !== 0),
        );
      expect(sideways, view).toEqual([]);
    }
    const deliveries = page.getByRole('region', { name: 'Deliveries, newest first' });
    await deliveries.waitFor();
    const { data } = (await sandbox.json('--sandbox webhooks list --json')) as { data: readonly { id: string }[] };
    expect(await deliveries.innerText()).toContain(data[0]?.id);
    await page.setViewportSize({ width: 1280, height: 800 });
    await deliveries.getByRole('columnheader', { name: 'Subscription' }).waitFor();
    await page.context().close();
  });

  it('says at the top that the session may only look, and reveals nothing', async () => {
    const page = await (await browser.newContext()).newPage();
    await begun(page, '--look-only');
    await page.getByText('This session may look and change nothing. For one that may change:').waitFor();
    await page.goto(`${sandbox.origin}/_sandbox/#/cards/${made.card}`);
    await page.getByText('Reveal number and security code').click();
    const reveal = page.getByRole('button', { name: 'Reveal for 30 s' });
    await reveal.waitFor();
    expect(await reveal.isDisabled()).toBe(true);
    await page.context().close();
  });

  it('goes on in the first tab when a second ticket is used, with what that one may do', async () => {
    const context = await browser.newContext();
    const first = await context.newPage();
    await begun(first);
    const second = await context.newPage();
    await begun(second, '--look-only');
    await first.bringToFront();
    await first.getByText('This session may look and change nothing. For one that may change:').waitFor();
    await goTo(first, 'cards', 'Cards');
    await begun(await context.newPage());
    for (const page of [first, second]) {
      await page.getByText('This session may look and change nothing.').first().waitFor({ state: 'detached' });
      await page.getByText('live', { exact: true }).waitFor();
    }
    await sandbox.run('sandbox open --end -q');
    for (const page of [first, second]) await page.getByRole('heading', { name: 'No session' }).waitFor();
    await context.close();
  });

  it('goes on in the first tab also when the one with the new ticket is busy for long', async () => {
    const context = await browser.newContext();
    const first = await context.newPage();
    await begun(first);
    const second = await context.newPage();
    await second.addInitScript(tellLate);
    await begun(second, '--look-only');
    await first.bringToFront();
    await first.getByText('This session may look and change nothing. For one that may change:').waitFor();
    await first.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await context.close();
  });

  it('offers no second delivery of one that still goes, and leads to one that was sent', async () => {
    const page = await (await browser.newContext()).newPage();
    await begun(page);
    await page.goto(`${sandbox.origin}/_sandbox/#/webhooks/${made.delivery}`);
    await page.getByText('It goes by itself when its time comes').waitFor();
    expect(await page.getByRole('button', { name: 'Redeliver', exact: true }).count()).toBe(0);
    await page.getByText('The newest try failed: connection refused').waitFor();
    await page.getByRole('button', { name: 'Move the clock there' }).click();
    await page.getByRole('status').getByText('Move the clock there: done').waitFor();
    await page.getByText('Edit and send').click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('link', { name: 'follow this delivery' }).click();
    await page.waitForURL(url => url.hash.startsWith('#/webhooks/') && !url.hash.includes(made.delivery));
    await page
      .getByText(/\bedited\b/)
      .first()
      .waitFor();
    await page.context().close();
  });
});

/** In the page: what it tells other tabs comes after they have given it up. */
function tellLate(): void {
  const { postMessage } = BroadcastChannel.prototype;
  BroadcastChannel.prototype.postMessage = function (told: unknown) {
    setTimeout(() => postMessage.call(this, told), 1_500);
  };
}
