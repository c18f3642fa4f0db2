/**
 * What a pipe gets does not depend on the language, the zone or the colours of who runs it
 * (docs/design/terminal.md, "Screen"). `locales.full.ts` has other places.
 */
import { describe, expect, it } from 'vitest';
import { world } from '../support/world.ts';
import { sameUnder } from './locales.ts';

describe('into a pipe', () => {
  const outputs = sameUnder([{ LC_ALL: 'de_DE.UTF-8', LANG: 'de_DE.UTF-8', TZ: 'America/St_Johns', TERM: 'dumb' }]);

  it('no escape, no return and no control byte but newline and tab', () => {
    const { expected } = outputs();
    for (const text of expected) expect(text).toMatch(/^[^\0-\x08\x0b-\x1f\x7f\x80-\x9f]*$/);
    expect(expected[0]).toMatch(/\d\.\d\d,/);
    expect(expected.at(-1)).toMatch(/: 5\n.*no_such_card/s);
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
