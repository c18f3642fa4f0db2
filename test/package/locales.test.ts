/**
 * What a pipe gets does not depend on the language, the zone or the colours of who runs it
 * (docs/design/terminal.md, "Screen").
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Home, home } from './built.ts';

const PLACES: readonly Readonly<Record<string, string>>[] = [
  { LC_ALL: 'C', TZ: 'UTC' },
  { LC_ALL: 'de_DE.UTF-8', LANG: 'de_DE.UTF-8', TZ: 'Europe/Berlin' },
  { LC_ALL: 'ja_JP.UTF-8', LANG: 'ja_JP.UTF-8', TZ: 'Asia/Tokyo' },
  { LC_ALL: '', LANG: '', TZ: 'America/St_Johns', TERM: 'dumb' },
];
const LINES = [
  'wallet',
  'wallet --json',
  'tx list -o csv --limit 40',
  'cards list --accessible',
  'cards get no_such_card',
];

let place: Home;
let expected: readonly string[];

async function outputs(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const line of LINES) {
    const { code, out, err } = await place.run(['--sandbox', ...line.split(' ')], { env });
    // Each request has a number of its own.
    seen.push(`${line}: ${code}\n${out}${err.replace(/req_\w+/g, 'req')}`);
  }
  return seen;
}

beforeAll(async () => {
  place = await home();
  // The store is made once; its clock goes on, and pipes get times as they were written.
  await place.run(['--sandbox', 'wallet']);
  expected = await outputs({ LC_ALL: 'C.UTF-8', TZ: 'UTC' });
});
afterAll(() => place[Symbol.asyncDispose]());

describe('into a pipe', () => {
  it.each(PLACES.map(env => [`${env['LC_ALL'] || 'no locale'}, ${env['TZ']}`, env] as const))(
    'the same under %s',
    async (_, env) => {
      expect(await outputs(env)).toEqual(expected);
    },
  );

  it('no escape, no return and no control byte but newline and tab', () => {
    for (const text of expected) expect(text).toMatch(/^[^\0-\x08\x0b-\x1f\x7f\x80-\x9f]*$/);
    expect(expected[0]).toContain('10000.00');
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
      const { out } = await place.run(['--sandbox', 'cards', 'list', '--color', when], { env });
      expect(out).not.toContain('\x1b');
      const { err } = await place.run(['--sandbox', 'cards', 'get', 'no_such_card', '--color', when], { env });
      expect(err.includes('\x1b[31merror:\x1b[39m')).toBe(isColoured);
    },
  );
});
