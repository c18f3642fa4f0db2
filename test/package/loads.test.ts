import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CARD, json, serve } from '../client/served.ts';
import { home, type Start } from './built.ts';

interface Loaded {
  /** What was asked of `require`: modules of Node and the SQLite package. */
  readonly modules: readonly string[];
  /** Pieces of the program. */
  readonly files: readonly string[];
  /** Those without compiled code that fits. */
  readonly compiled: readonly string[];
}

async function loadedBy(words: readonly string[], how: Start = {}): Promise<Loaded> {
  await using place = await home();
  const record = join(place.folder, 'loads.json');
  const node = ['--require', join(import.meta.dirname, 'record-loads.cjs')];
  // The first run of a command keeps what it compiled; the second is what a user knows.
  const env = { CARDWRIGHT_CACHE: join(place.folder, 'cache') };
  await place.run(words, { ...how, env });
  const { code, err } = await place.run(words, { ...how, node, env: { ...env, RECORD_TO: record } });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(readFileSync(record, 'utf8'));
}

const HEAVY = /^(?:net|tty|http|https|http2|crypto|child_process|assert|url|stream|@.*)$/;

describe('what a start loads', () => {
  it('a page of help opens nothing but what every run needs, compiled', async () => {
    const { modules, files, compiled } = await loadedBy(['--help']);
    expect([...files].sort()).toEqual(['main.js', 'program.js', 'rolldown-runtime.js']);
    expect(compiled).toEqual([]);
    expect(modules.filter(name => HEAVY.test(name))).toEqual([]);
  });

  it('a list of one page as JSON loads no sandbox and no package that draws, compiled', async () => {
    await using service = await serve((_seen, response) => json(response, 200, { data: [CARD] }));
    const { files, compiled } = await loadedBy(['cards', 'list', '--json'], { baseUrl: service.baseUrl });
    expect(compiled).toEqual([]);
    expect(files).toContain('undici.js');
    const unused = /^(?:sandbox|assemble|conf|yaml|.*valibot.*|pg|inquirer.*|cli-table3|chalk|jq.*)\.js$/;
    expect(files.filter(name => unused.test(name))).toEqual([]);
  });
});
