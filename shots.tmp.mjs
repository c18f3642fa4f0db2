import { chromium } from 'playwright-core';
const [url, out, ...views] = process.argv.slice(2);
const b = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const c = await b.newContext();
const p = await c.newPage();
p.on('console', m => console.log('console', m.text()));
p.on('pageerror', m => console.log('error', m.message));
await p.goto(url);
await p.waitForTimeout(1500);
for (const [w, scheme] of [[1280, 'light'], [390, 'dark']]) {
  await p.setViewportSize({ width: w, height: 900 });
  await p.emulateMedia({ colorScheme: scheme });
  for (const v of views) {
    await p.evaluate(h => { location.hash = h; }, v);
    await p.waitForTimeout(900);
    await p.screenshot({ path: `${out}/${v.replace(/\W+/g, '_').slice(0, 40) || 'overview'}-${w}.png`, fullPage: true });
  }
}
await b.close();
