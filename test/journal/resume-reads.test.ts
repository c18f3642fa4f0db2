/** A resume opens its journal twice: to look, and once more when nobody else can write it. */
import { expect, test } from 'vitest';
import { bench, createRow, planOf } from './bench.ts';

test('looking opens the journal once, and taking it over once more', async () => {
  let opened = 0;
  await using b = await bench({
    disk: real => ({
      ...real,
      async open(path) {
        if (path.endsWith('journal')) opened += 1;
        return real.open(path);
      },
    }),
  });
  const run = await b.journal.begin(planOf([createRow(b.bin)], { bulk: true }));
  await run[Symbol.asyncDispose]();
  opened = 0;
  const { takeOver } = await b.journal.look(run.op);
  expect(opened).toBe(1);
  await using held = await takeOver();
  expect(opened).toBe(2);
  expect(await held.perform(1)).toMatchObject({ outcome: 'done' });
});
