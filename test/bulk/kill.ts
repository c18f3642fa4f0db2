/** A run killed in the middle, the service with it, and taken up again: every card once, every cent in its place. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Home, home } from '../package/built.ts';
import { opsIn } from '../support/journal-file.ts';

const ROWS = 200;

/** Kills it when it has told so many rows; resolves when it is gone. */
async function killedAfter(rows: number, here: Home, words: readonly string[]): Promise<void> {
  const child = here.start(words);
  let told = '';
  await new Promise<void>(resolve => {
    child.on('close', () => resolve());
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      told += text;
      if (told.split('\n').length > rows + 1) child.kill('SIGKILL');
    });
  });
  expect(child.signalCode).toBe('SIGKILL');
}

/** Kills a run of 200 rows when it has told so many of them, and takes it up again. */
export async function killedAndResumed(rows: number): Promise<void> {
  await using here = await home();
  const json = async (...words: readonly string[]) => {
    const { code, out, err } = await here.run(['--sandbox', ...words, '--json']);
    expect({ words, code, says: code === 0 ? '' : err }).toEqual({ words, code: 0, says: '' });
    return JSON.parse(out);
  };
  const file = join(here.folder, 'team.csv');
  const lines = Array.from({ length: ROWS }, (_, index) => `auto,1.0${index % 10},row ${index + 1}`);
  await writeFile(file, `bin_id,amount,label\n${lines.join('\n')}\n`);
  const { balance } = await json('wallet');
  await killedAfter(rows, here, ['--sandbox', 'cards', 'create', '--file', file, '--yes', '-o', 'csv']);

  const [op = ''] = opsIn(join(here.folder, 'state'));
  const resumed = await json('ops', 'resume', op, '--yes');
  expect(resumed.page).toMatchObject({ done: ROWS, refused: 0, unknown: 0, not_sent: 0 });
  const { data } = await json('cards', 'list', '--all');
  // The sandbox comes with cards of its own; those of this run carry its marker.
  const all = data as { id: string; label: string; metadata: Record<string, string> }[];
  const cards = all.filter(({ metadata }) => metadata['cardwright']?.startsWith(op));
  expect(cards.length).toBe(ROWS);
  expect(new Set(cards.map(({ metadata }) => metadata['cardwright'])).size).toBe(ROWS);
  expect(new Set(cards.map(({ label }) => label)).size).toBe(ROWS);
  const spent = lines.reduce((sum, line) => sum + Math.round(Number(line.split(',')[1]) * 100), 0);
  expect(Math.round((await json('wallet')).balance * 100)).toBe(Math.round(balance * 100) - spent);
  // After END a resume sends nothing.
  expect((await json('ops', 'resume', op, '--yes')).page.done).toBe(ROWS);
  expect((await json('cards', 'list', '--all')).data.length).toBe(all.length);
}
