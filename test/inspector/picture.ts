/**
 * Pictures for a person, light at 1280 px and dark at 390: never compared. `CARDWRIGHT_PICTURES` names the folder they go
 * to; without it there are none.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import type { Page } from '../support/browser.ts';

export const picturesFolder = process.env['CARDWRIGHT_PICTURES'];

/** px; what is below repeats. */
const HIGHEST = 1_800;

export const LOOKS = [
  { width: 1280, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const;

/** The whole page as it stands, under this name. */
export async function picture(page: Page, name: string, { width, colorScheme }: (typeof LOOKS)[number]): Promise<void> {
  if (picturesFolder === undefined) return;
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  const session = await page.context().newCDPSession(page);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: 45,
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width, height: Math.min(height, HIGHEST), scale: 1 },
  });
  await session.detach();
  await mkdir(picturesFolder, { recursive: true });
  await writeFile(join(picturesFolder, `${name}-${width}.webp`), Buffer.from(data, 'base64'));
}
