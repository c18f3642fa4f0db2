/** Where things are kept (docs/design/terminal.md, "Files and environment"). */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { foldersFor } from '../../src/platform/folders.ts';

const HOME = '/home/ann';
const linux = (env: Readonly<Record<string, string>>) =>
  foldersFor({ env, platform: 'linux', home: HOME, temporary: '/tmp' });
const VARIABLES = {
  config: 'XDG_CONFIG_HOME',
  state: 'XDG_STATE_HOME',
  data: 'XDG_DATA_HOME',
  cache: 'XDG_CACHE_HOME',
  runtime: 'XDG_RUNTIME_DIR',
} as const;
const KINDS = Object.keys(VARIABLES) as (keyof typeof VARIABLES)[];

describe('the folders', () => {
  it('are those of XDG in a home that says nothing', () => {
    expect(linux({})).toEqual({
      config: join(HOME, '.config/cardwright'),
      state: join(HOME, '.local/state/cardwright'),
      data: join(HOME, '.local/share/cardwright'),
      cache: join(HOME, '.cache/cardwright'),
      runtime: join(HOME, '.local/state/cardwright/run'),
    });
  });

  it.each(KINDS)('%s follows its own variable alone, and an absolute one alone', kind => {
    expect(linux({ [VARIABLES[kind]]: '/else' })).toMatchObject({ ...without(kind), [kind]: '/else/cardwright' });
    for (const value of ['', 'here', './here', '../here'])
      expect(linux({ [VARIABLES[kind]]: value })).toEqual(linux({}));
  });

  it('are nowhere but below CARDWRIGHT_CONFIG_DIR where that is set', () => {
    const all = Object.fromEntries(Object.values(VARIABLES).map(name => [name, '/else']));
    for (const platform of ['linux', 'darwin', 'win32'] as const) {
      const env = { ...all, CARDWRIGHT_CONFIG_DIR: '/one' };
      const found = Object.values(foldersFor({ env, platform, home: HOME, temporary: '/tmp' }));
      expect(new Set(found).size).toBe(5);
      for (const folder of found) expect(folder).toMatch(/^\/one\/\w+$/);
    }
  });
});

/** The other folders; the one of running things is below that of state. */
function without(kind: string) {
  const kept = Object.entries(linux({})).filter(([name]) => name !== kind && !(kind === 'state' && name === 'runtime'));
  return Object.fromEntries(kept);
}
