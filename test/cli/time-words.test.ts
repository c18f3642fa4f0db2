import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { build } from 'esbuild';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseTimeWord } from '../../src/cli/parsing/values.ts';
import { isoTime } from '../../src/core/durations.ts';

const NOW = Date.parse('2026-11-20T14:03:11Z');
const HOUR = 3_600_000;

describe('time words', () => {
  it.each([
    ['now', '2026-11-20T14:03:11Z'],
    ['90m', '2026-11-20T12:33:11Z'],
    ['12h', '2026-11-20T02:03:11Z'],
    ['7d', '2026-11-13T14:03:11Z'],
    ['2w', '2026-11-06T14:03:11Z'],
    ['2026-11-01T14:00:00Z', '2026-11-01T14:00:00Z'],
    ['2026-11-01T14:00Z', '2026-11-01T14:00:00Z'],
    ['2026-11-01T14:00:00.250Z', '2026-11-01T14:00:00.250Z'],
    ['2026-11-01T14:00:00+02:00', '2026-11-01T12:00:00Z'],
    ['2026-11-01T00:30:00-05:30', '2026-11-01T06:00:00Z'],
  ])('%s', (text, expected) => {
    expect(parseTimeWord(text, NOW)).toBe(expected);
  });

  it.each([
    '',
    ' 7d',
    '7d ',
    '-7d',
    '7',
    'd',
    '7y',
    '7.5d',
    '1e3d',
    '123456d',
    'tomorrow',
    'TODAY',
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '2026-1-1',
    '20261101',
    '01.11.2026',
    '11/01/2026',
    '2026-11-01 14:00',
    '2026-11-01T25:00:00Z',
    '2026-02-30T10:00:00Z',
    '2026-02-30T10:00',
    '2026-11-01T14:00:00+2',
    '٢٠٢٦-11-01',
    '2026-11-01T14:00:00Z; ls',
  ])('refuses %j', text => {
    expect(parseTimeWord(text, NOW)).toBeUndefined();
  });

  it('takes a day as its first moment, or with end as its last millisecond', () => {
    const local = (day: number) => new Date(2026, 10, day).getTime();
    expect(parseTimeWord('2026-11-01', NOW)).toBe(isoTime(local(1)));
    expect(parseTimeWord('2026-11-01', NOW, true)).toBe(isoTime(local(2) - 1));
    expect(parseTimeWord('today', NOW, true)).toBe(isoTime(new Date(NOW).setHours(24, 0, 0, 0) - 1));
    expect(parseTimeWord('7d', NOW, true)).toBe(parseTimeWord('7d', NOW));
  });

  it('never throws, and answers ISO 8601 in UTC or nothing', () => {
    const word = fc.oneof(
      fc.string(),
      fc.stringMatching(/^\d{1,5}[mhdw]$/),
      fc.stringMatching(/^\d{4}-\d\d-\d\d(T\d\d:\d\d)?Z?$/),
    );
    fc.assert(
      fc.property(word, fc.boolean(), (text, end) => {
        const value = parseTimeWord(text, NOW, end);
        if (value !== undefined) expect(new Date(value).getTime()).not.toBeNaN();
      }),
    );
  });
});

describe('in zones of their own', () => {
  let code = '';

  beforeAll(async () => {
    const source = `import { parseTimeWord } from './src/cli/parsing/values.ts';
      const [words, now] = JSON.parse(process.argv[2]);
      console.log(JSON.stringify(words.map(([text, end]) => parseTimeWord(text, Date.parse(now), end))));`;
    const resolveDir = join(import.meta.dirname, '..', '..');
    const built = await build({
      stdin: { contents: source, resolveDir, loader: 'ts' },
      bundle: true,
      format: 'esm',
      write: false,
    });
    code = built.outputFiles[0]?.text ?? '';
  });

  /** Reads words in a process of that zone; `now` is UTC. */
  function inZone(zone: string, now: string, words: readonly (readonly [string, boolean])[]): string[] {
    const args = ['--input-type=module', '-', JSON.stringify([words, now])];
    return JSON.parse(execFileSync(process.execPath, args, { input: code, env: { TZ: zone }, encoding: 'utf8' }));
  }

  const day = (text: string) =>
    [
      [text, false],
      [text, true],
    ] as const;

  it('a day is 23 hours when clocks go forward, 25 when they go back', () => {
    const [from = '', to = ''] = inZone('Europe/Berlin', '2026-11-20T12:00:00Z', day('2026-03-29'));
    expect([from, to]).toEqual(['2026-03-28T23:00:00Z', '2026-03-29T21:59:59.999Z']);
    expect(Date.parse(to) + 1 - Date.parse(from)).toBe(23 * HOUR);
    const [first = '', last = ''] = inZone('America/New_York', '2026-11-20T12:00:00Z', day('2026-11-01'));
    expect([first, last]).toEqual(['2026-11-01T04:00:00Z', '2026-11-02T04:59:59.999Z']);
    expect(Date.parse(last) + 1 - Date.parse(first)).toBe(25 * HOUR);
  });
});
