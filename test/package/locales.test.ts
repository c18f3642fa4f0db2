/** What a pipe gets does not depend on the language, the zone or the colours of who runs it (docs/design/terminal.md, "Screen"). */
import { describe, expect, it } from 'vitest';
import { isWhole } from '../support/whole.ts';
import { world } from '../support/world.ts';
import { home } from './built.ts';

const LINES = ['tx list -o csv --limit 40', 'cards get no_such_card'];
const PLACES = [
  { LC_ALL: 'C.UTF-8', TZ: 'UTC' },
  { LC_ALL: 'de_DE.UTF-8', LANG: 'de_DE.UTF-8', TZ: 'America/St_Johns', TERM: 'dumb' },
  ...(isWhole
    ? [
        { LC_ALL: 'C', TZ: 'UTC' },
        { LC_ALL: '', LANG: '', TZ: 'America/St_Johns', TERM: 'dumb' },
        { LC_ALL: 'ja_JP.UTF-8', LANG: 'ja_JP.UTF-8', TZ: 'Asia/Tokyo' },
      ]
    : []),
];

describe('into a pipe', () => {
  it('the same comes wherever it runs: no escape, no return and no control byte but newline and tab', async () => {
    await using place = await home();
    // The store is made once; its clock goes on, and pipes get times as they were written.
    await place.run(['--sandbox', 'wallet']);
    for (const line of LINES) {
      const told = new Set<string>();
      for (const env of PLACES) {
        const { code, out, err } = await place.run(['--sandbox', ...line.split(' ')], { env });
        // Each request has a number of its own.
        told.add(`${code}\n${out}${err.replace(/req_\w+/g, 'req')}`);
      }
      expect([...told]).toEqual([expect.stringMatching(/^[^\0-\x08\x0b-\x1f\x7f\x80-\x9f]*$/)]);
      expect([...told][0]).toMatch(line.startsWith('tx') ? /\d\.\d\d,/ : /^5\n.*no_such_card/s);
    }
  });

  it.each([
    ['auto', { CLICOLOR: '1', TERM: 'xterm-256color' }, false],
    ['auto', { FORCE_COLOR: '1' }, true],
    ['auto', { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
    ['always', { NO_COLOR: '1' }, true],
  ] as const)(
    'an error in colour only where it is asked for, rows never: --color %s %j %s',
    async (when, env, isColoured) => {
      await using here = await world({ env });
      await here.run('cards create --bin bin_1 --amount 5');
      expect((await here.run(`cards list --color ${when}`)).out).not.toContain('\x1b');
      const { err } = await here.run(`cards get no_such_card --color ${when}`);
      expect(err.includes('\x1b[31merror:\x1b[39m')).toBe(isColoured);
    },
  );
});
