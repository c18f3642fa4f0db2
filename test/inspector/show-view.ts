import type { Page } from '../support/browser.ts';

/** Shows another view of the open page. Its heading may have the words of the one before: nothing of that is left. */
export async function showView(page: Page, hash: string): Promise<void> {
  await page.evaluate(async to => {
    if (location.hash === `#${to}`) return;
    const heard = new Promise(resolve => window.addEventListener('hashchange', resolve, { once: true }));
    location.hash = to;
    await heard;
  }, hash);
  await page.locator('h1').waitFor();
  await page.getByText('Loading …').first().waitFor({ state: 'detached' });
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
}
