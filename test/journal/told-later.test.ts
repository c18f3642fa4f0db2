/** A write that is answered 429: what looking shows, what stopping leaves, and what a resume makes of it. */
import { expect, test } from 'vitest';
import { bench, createRow, planOf } from './bench.ts';

const createPath = /\/cards$/;
const listPath = /\/cards\?/;
const noList = Array<'drop-before'>(9).fill('drop-before');

test.each([
  ['throttled', 'not_sent', 0],
  ['throttled-after', 'done', 1],
] as const)('%s, and stopped before it is answered: looked for at once, %s', async (fault, outcome, cards) => {
  await using b = await bench();
  b.proxy.fail('POST', createPath, fault);
  const stopped = b.proxy.posted(1).then(() => b.stop.abort(new Error('stopped')));
  await using run = await b.journal.begin(planOf([createRow(b.bin)]));
  expect(await run.perform(1)).toMatchObject({ outcome });
  await stopped;
  expect([b.proxy.posts().length, (await b.cards()).length]).toEqual([1, cards]);
});

test.concurrent.each([
  ['throttled', 2],
  ['throttled-after', 1],
] as const)(
  '%s, and it cannot be looked for: unknown, never sent again, and a resume ends it',
  async (fault, posts) => {
    await using b = await bench({ stripKeys: true, skipsPauses: true });
    b.proxy.fail('POST', createPath, fault);
    b.proxy.fail('GET', listPath, ...noList);
    const run = await b.journal.begin(planOf([createRow(b.bin)], { bulk: true }));
    expect(await run.perform(1)).toMatchObject({ outcome: 'unknown', error: { exitCode: 11 } });
    expect(b.proxy.posts()).toHaveLength(1);
    await run[Symbol.asyncDispose]();
    b.proxy.mend();
    await using resumed = await b.journal.resume(run.op);
    expect(await resumed.perform(1)).toMatchObject({ outcome: 'done' });
    expect([b.proxy.posts().length, (await b.cards()).length]).toEqual([posts, 1]);
    expect(await resumed.finish()).toMatchObject({ ended: true, objections: [] });
  },
);
