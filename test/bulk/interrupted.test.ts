/** The second Ctrl-C: what is on the wire is cut off, written down as unknown, and settled by a resume. */
import { expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { serviceWorld } from './service-world.ts';

const ROWS = 40;

test('the second Ctrl-C leaves what is on the wire to a resume, which makes no card twice', async () => {
  await using here = await serviceWorld({ delayMs: 60_000 });
  const file = await here.creates(
    'team.csv',
    Array.from({ length: ROWS }, () => 1),
  );
  // After the first rows the service does the work of four more, and their answers hang.
  const [stop, cut] = [new AbortController(), new AbortController()];
  let hung = false;
  const running = here.run(`cards create --file ${file} --yes -o csv --concurrency 4`, {
    signal: stop.signal,
    cut: cut.signal,
    onOut(text) {
      if (hung || !text.includes('done')) return;
      hung = true;
      here.proxy.fail('POST', /\/cards$/, ...Array.from({ length: 4 }, () => 'late-answer' as const));
    },
  });
  const turn = () => new Promise(resolve => setImmediate(resolve));
  while (here.proxy.happened()['late-answer'] !== 4) await turn();
  stop.abort(new CliError('interrupted', { message: 'stopped by Ctrl-C' }));
  const posts = here.proxy.posts().length;
  await turn();
  cut.abort(new CliError('interrupted', { message: 'stopped by Ctrl-C' }));
  const { code, out, err } = await running;

  const outcomes = out
    .trimEnd()
    .split('\n')
    .slice(1)
    .map(line => line.split(',')[1]);
  const unknown = outcomes.filter(outcome => outcome === 'unknown').length;
  expect(code).toBe(11);
  expect([outcomes.length, here.proxy.posts().length]).toEqual([ROWS, posts]);
  expect(unknown).toBe(4);
  expect(err).toContain('Do not run the command again: unknown rows may have happened.');
  const op = /try: cardwright ops resume (op_\S+)/.exec(err)?.[1];
  expect((await here.run(`ops show ${op} --json`)).out).toContain('stopped before the answer');

  // The answers of the resumed rows come at once.
  const resumed = await here.run(`ops resume ${op} --yes -o csv`);
  expect(resumed.code, resumed.err).toBe(0);
  const cards = await here.cards();
  expect(cards.length).toBe(ROWS);
  expect(new Set(cards.map(({ metadata }) => metadata['cardwright'])).size).toBe(ROWS);
  expect(await here.wallet()).toBe(1000 - ROWS);
});
