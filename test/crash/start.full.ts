import { expect, it } from 'vitest';
import { killRounds } from './started.ts';

it('is there again within a second, 25 kills long', async () => {
  const took = [...(await killRounds(25))].sort((a, b) => a - b);
  const [median = 0, slowest = 0] = [took[12], took.at(-1)];
  process.stdout.write(
    `first answer after kill -9: median ${Math.round(median)} ms, slowest ${Math.round(slowest)} ms\n`,
  );
  // The goal says always, so the slowest of them counts; a busy machine is not our time.
  expect(slowest).toBeLessThan(1_000);
});
