import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';
import { expect, it } from 'vitest';
import { keepGrown } from '../../src/platform/v8.ts';

const { code } = transformSync(readFileSync('src/platform/v8.ts', 'utf8'), { loader: 'ts', format: 'esm' });

/** Megabytes of the space for new objects when a process of its own is asked, before and after much garbage that lives a while. */
const ASK = `
import v8 from 'node:v8';
const size = () => {
  const space = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return Math.round((space.space_used_size + space.space_available_size) / 1e6);
};
const first = size();
growOnce(v8);
const grown = size();
for (let round = 0; round < 30; round += 1) Array.from({ length: 50_000 }, (_, at) => ({ at }));
console.log(JSON.stringify({ first, grown, last: size() }));
`;

it('grows the space for new objects once, to a few megabytes, and leaves it there under load', () => {
  const answer = execFileSync(process.execPath, ['--input-type=module', '-e', code + ASK], { encoding: 'utf8' });
  const { first, grown, last } = JSON.parse(answer);
  expect(grown).toBeGreaterThan(first);
  expect(grown).toBeLessThanOrEqual(8);
  expect(last).toBe(grown);
});

it('grows it again when V8 took it back and there is work to do, and not before', () => {
  const flags: string[] = [];
  let [size, work] = [1, 0];
  let look: () => void = () => undefined;
  const utilization = (now?: unknown, before?: unknown) =>
    ({ idle: 0, active: 0, utilization: before === undefined || now === undefined ? 0 : work }) as never;
  const heap = {
    getHeapSpaceStatistics: () =>
      [{ space_name: 'new_space', space_used_size: 0, space_available_size: size * 1_000_000 }] as never,
    setFlagsFromString(flag: string) {
      flags.push(flag);
      if (flag.endsWith('=4')) size = 4;
    },
  };
  const every = (_ms: number, again: () => void) => {
    look = again;
  };
  keepGrown(heap, { eventLoopUtilization: utilization, every });
  const grown = ['--semi-space-growth-factor=4', '--semi-space-growth-factor=1'];
  expect(flags).toEqual(grown);
  [size, work] = [1, 0.05];
  look();
  expect(flags).toEqual(grown);
  work = 0.8;
  look();
  expect(flags).toEqual([...grown, ...grown]);
});
