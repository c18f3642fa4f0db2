/** The inspector in Firefox, which sends other headers about itself than Chromium does. */
import { describe, expect, it } from 'vitest';
import { inspected } from '../support/browser.ts';
import { firefoxPage, noFirefox } from '../support/firefox.ts';

describe.skipIf(noFirefox !== undefined)('the inspector in Firefox', () => {
  // To start a second browser takes a minute beside much else.
  it('opens, reads, changes something and says nothing in the console', { timeout: 240_000 }, async () => {
    await using sandbox = await inspected(['--data', 'demo', '--seed', '7']);
    await using page = await firefoxPage();
    await page.goto(await sandbox.address());
    await page.until(`document.querySelector('h1')?.innerText === 'Overview'`);
    await page.evaluate(`location.hash = '#/invariants'`);
    await page.until(`document.querySelector('h1')?.innerText === 'Ledger check'`);
    await page.until(`[...document.querySelectorAll('button')].some(button => button.innerText === 'Check now')`);
    await page.evaluate(
      `[...document.querySelectorAll('button')].find(button => button.innerText === 'Check now').click()`,
    );
    await page.until(`document.body.innerText.includes('Every rule holds')`);
    expect(page.said).toEqual([]);
    expect(await page.evaluate('document.referrer')).toBe('');
  });
});
