/** V8 takes the space for new objects back from an idle process; a server gets it again. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';
import { expect, it } from 'vitest';

const { code } = transformSync(readFileSync('src/platform/v8.ts', 'utf8'), { loader: 'ts', format: 'esm' });

/** How many collections of new objects 200 MB of garbage take, at first and after 12 idle seconds; `grow` is how it begins. */
const ask = (grow: string) => `
import v8 from 'node:v8';
import { PerformanceObserver, performance } from 'node:perf_hooks';
import { setTimeout as rest } from 'node:timers/promises';
let count = 0;
new PerformanceObserver(list => { count += list.getEntries().length; }).observe({ entryTypes: ['gc'] });
const { eventLoopUtilization } = performance;
const every = (ms, look) => setInterval(look, ms).unref();
${grow};
const work = async megabytes => {
  for (let done = 0; done < megabytes; done += 1) {
    for (let nth = 0; nth < 50; nth += 1) new Array(2_500).fill(nth);
    await new Promise(resolve => setImmediate(resolve));
  }
};
const counted = async () => {
  await work(100);
  count = 0;
  await work(200);
  await rest(10);
  return count;
};
const first = await counted();
await rest(12_000);
await work(500);
console.log(JSON.stringify({ first, later: await counted() }));
`;

function asked(grow: string): { readonly first: number; readonly later: number } {
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', code + ask(grow)], { encoding: 'utf8' }),
  );
}

it('collects as seldom after an idle time as before it', () => {
  const { first, later } = asked('keepGrown(v8, { eventLoopUtilization, every })');
  expect(later).toBeLessThan(2.5 * first);
});
