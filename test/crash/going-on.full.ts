/**
 * Killed at every boundary, gone on with in every way; and real processes of the built program that are killed within
 * 20 ms after they have printed their last row, each followed by the same command.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Home, home } from '../package/built.ts';
import { sweep } from './going-on.ts';

test.each([
  { rows: 1, honoured: true },
  { rows: 1, honoured: false },
  { rows: 2, honoured: true },
  { rows: 2, honoured: false },
  { rows: 4, honoured: true },
  { rows: 4, honoured: false },
])('every boundary of %j with every way', async setting => {
  const { boundaries, ways, strikes, broken } = await sweep(setting);
  process.stdout.write(`${JSON.stringify(setting)}: ${boundaries} boundaries x ${ways} ways, ${strikes} kills\n`);
  expect(broken).toEqual([]);
});

const KILLS = 500;
const ROWS = 2;
/** A new home now and then: the lists of one that has thousands of cards are long. */
const KILLS_A_HOME = 50;
const LATEST_MS = 20;

test(`${KILLS} kills within ${LATEST_MS} ms after the last row, each followed by the same command`, {
  timeout: 3_600_000,
}, async () => {
  const count = { killed: 0, finished: 0, refused: 0, ran: 0, sawTheEnd: 0 };
  const broken: string[] = [];
  for (let begun = 0; begun < KILLS; begun += KILLS_A_HOME) {
    await using here = await home();
    for (let kill = begun; kill < begun + KILLS_A_HOME; kill += 1) {
      const file = join(here.folder, `rows-${kill}.csv`);
      const lines = Array.from({ length: ROWS }, (_, row) => `auto,1,kill ${kill} row ${row}`);
      await writeFile(file, `bin_id,amount,label\n${lines.join('\n')}\n`);
      const words = ['--sandbox', 'cards', 'create', '--file', file, '--yes', '-o', 'ndjson'];
      const signal = await killedAfterItsLastRow(here, words, (kill % (LATEST_MS * 4 + 1)) / 4);
      count[signal === 'SIGKILL' ? 'killed' : 'finished'] += 1;
      const again = await here.run(words);
      const op = /ops resume (op_\w+)/.exec(again.err)?.[1];
      if (again.code === 0) count.ran += 1;
      else if (op !== undefined) {
        count.refused += 1;
        const resumed = await here.run(['--sandbox', 'ops', 'resume', op, '--yes', '--json']);
        if (resumed.code !== 0) broken.push(`kill ${kill}: the resume ended with ${resumed.code}`);
      } else if (/less than 24 hours ago/.test(again.err)) count.sawTheEnd += 1;
      else broken.push(`kill ${kill}: ${again.err}`);
    }
    const { out } = await here.run(['--sandbox', 'cards', 'list', '--all', '--json']);
    const labels = (JSON.parse(out).data as { label?: string }[]).map(({ label = '' }) => label);
    for (let kill = begun; kill < begun + KILLS_A_HOME; kill += 1) {
      const mine = labels.filter(label => label.startsWith(`kill ${kill} `));
      if (mine.length !== ROWS) broken.push(`kill ${kill}: ${mine.length} cards for ${ROWS} rows`);
    }
  }
  process.stdout.write(`${JSON.stringify(count)}, wrong: ${broken.length}\n`);
  expect(broken).toEqual([]);
  expect(count.ran).toBe(0);
  expect(count.killed).toBeGreaterThan(KILLS / 4);
});

async function killedAfterItsLastRow(here: Home, words: readonly string[], ms: number): Promise<string | null> {
  const child = here.start(words);
  let told = '';
  let killing: Promise<unknown> | undefined;
  await new Promise<void>(resolve => {
    child.on('close', () => resolve());
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      told += text;
      if (told.split('\n').length <= ROWS) return;
      killing ??= wait(ms).then(() => child.kill('SIGKILL'));
    });
  });
  await killing;
  return child.signalCode;
}
