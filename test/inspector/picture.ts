/**
 * Pictures for a person, at five widths, light and dark, and at 200 %: never compared. `CARDWRIGHT_PICTURES` names the folder they go
 * to; without it there are none.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import type { Page } from '../support/browser.ts';

export const picturesFolder = process.env['CARDWRIGHT_PICTURES'];

/** px; what is below repeats. */
const HIGHEST = 1_800;

export interface Look {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
  /** 2 is 200 %: half as many px of the page, each twice as large. */
  readonly zoom: number;
}

export const LOOKS: readonly Look[] = [
  ...[360, 390, 768, 1280, 1920].flatMap(width =>
    (['light', 'dark'] as const).map(colorScheme => ({ width, colorScheme, zoom: 1 })),
  ),
  { width: 1280, colorScheme: 'light', zoom: 2 },
];

/** The whole page as it stands, under this name. */
export async function picture(page: Page, name: string, { width, colorScheme, zoom }: Look): Promise<void> {
  if (picturesFolder === undefined) return;
  await page.setViewportSize({ width: width / zoom, height: 900 });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  const height = Math.min(whole, HIGHEST);
  // What stands beside the page is as high as the window.
  await page.setViewportSize({ width: width / zoom, height });
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'png',
    clip: { x: 0, y: 0, width: width / zoom, height, scale: zoom },
  });
  await session.detach();
  await mkdir(picturesFolder, { recursive: true });
  await writeFile(
    join(picturesFolder, `${name}-${width}-${zoom === 1 ? colorScheme : 'zoomed'}.png`),
    Buffer.from(data, 'base64'),
  );
}
