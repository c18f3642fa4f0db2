import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CARD, json, serve } from '../client/served.ts';
import { home, ROOT, type Start } from './built.ts';

const ROOMS = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter(entry => entry.isDirectory());
const OURS = new RegExp(
  `^(?:main|start|completion|request|core|keep-code|command-\\w+|${ROOMS.map(({ name }) => name).join('|')})\\.js$`,
);

interface Loaded {
  /** What was asked of `require`: modules of Node and the SQLite package. */
  readonly modules: readonly string[];
  /** Files of dist/ that hold packages. */
  readonly packages: readonly string[];
  /** Files of dist/ with our code, besides main.js, which opens them. */
  readonly rooms: readonly string[];
  /** Files of dist/ without compiled code that fits. */
  readonly compiled: readonly string[];
}

async function loadedBy(words: readonly string[], how: Start = {}): Promise<Loaded> {
  await using place = await home();
  const record = join(place.folder, 'loads.json');
  const node = ['--require', join(import.meta.dirname, 'record-loads.cjs')];
  // The first run of a command keeps what it compiled; the second is what a user knows.
  await place.run(words, how);
  const { code, err } = await place.run(words, { ...how, node, env: { RECORD_TO: record } });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const recorded = JSON.parse(readFileSync(record, 'utf8')) as Record<'modules' | 'files' | 'compiled', string[]>;
  const { modules, files, compiled } = recorded;
  return {
    modules,
    compiled,
    packages: files.filter(name => !OURS.test(name)),
    rooms: files.filter(name => OURS.test(name)),
  };
}

const HEAVY_MODULES = ['net', 'tty', 'http', 'https', 'http2', 'crypto', 'child_process', 'assert', 'url', 'stream'];

describe('what a start loads', () => {
  it('each package of the bundle has a file of its own', async () => {
    const files = (await readdir(join(ROOT, 'dist'))).filter(name => name.endsWith('.js') && !OURS.test(name));
    expect(files.sort()).toEqual([
      'chalk.js',
      'cli-table3.js',
      'commander.js',
      'conf.js',
      'csv-stringify.js',
      'fuzzysort.js',
      'inquirer-core.js',
      'jq.js',
      'pg.js',
      'string-width.js',
      'undici.js',
      'uqr.js',
      'yaml.js',
    ]);
  });

  it.each(['--version', '--help', 'cards --help', 'cards create --help', 'help cards fund'])(
    '%s opens nothing but start.js, compiled',
    async line => {
      const { packages, rooms, modules, compiled } = await loadedBy(line.split(' '));
      expect({ packages, rooms, compiled }).toEqual({ packages: [], rooms: ['start.js'], compiled: [] });
      expect(modules.filter(name => HEAVY_MODULES.includes(name) || name.startsWith('@'))).toEqual([]);
    },
  );

  it('completion loads nothing but what finds the command and its options, compiled', async () => {
    const { packages, rooms, modules, compiled } = await loadedBy(['__complete', 'bash', 'cardwright cards ']);
    const expected = { packages: [], rooms: ['start.js', 'completion.js', 'command-cards.js'], compiled: [] };
    expect({ packages, rooms, compiled }).toEqual(expected);
    expect(modules.filter(name => HEAVY_MODULES.includes(name) || name.startsWith('@'))).toEqual([]);
  });

  it('a list of one page as JSON loads the parser and the HTTP client alone', async () => {
    const service = await serve((_seen, response) => json(response, 200, { data: [CARD] }));
    try {
      const loaded = await loadedBy(['cards', 'list', '--json'], { baseUrl: service.baseUrl });
      const { packages, modules, rooms, compiled } = loaded;
      expect(compiled).toEqual([]);
      expect([...packages].sort()).toEqual(['commander.js', 'undici.js']);
      expect(rooms).toEqual(['start.js', 'request.js', 'completion.js', 'command-cards.js']);
      const unused = ['http', 'http2', 'https', 'tls', 'assert', 'child_process', 'crypto', 'url'];
      expect(modules.filter(name => unused.includes(name) || name.startsWith('@'))).toEqual([]);
    } finally {
      await service.close();
    }
  });
});
