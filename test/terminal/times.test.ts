import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isoTime } from '../../src/core/durations.ts';
import { durationText, monthText, parseTimestamp, relativeTime, relativeWords } from '../../src/terminal/times.ts';

const NOW = Date.parse('2026-11-20T14:00:00Z');
const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;

describe('relative time', () => {
  test.each([
    [0, 'now', 'now'],
    [4 * S, 'now', 'now'],
    [-4 * S, 'now', 'now'],
    [42 * S, '42s', '42 seconds ago'],
    [M, '1m', '1 minute ago'],
    [2 * H, '2h', '2 hours ago'],
    [3 * D, '3d', '3 days ago'],
    [41 * D + 23 * H, '41d', '41 days ago'],
    [-5 * M, 'in 5m', 'in 5 minutes'],
    [-1 * D, 'in 1d', 'in 1 day'],
  ])('%i ms ago is %s, in words %s', (age, short, words) => {
    expect(relativeTime(NOW - age, NOW)).toBe(short);
    expect(relativeWords(NOW - age, NOW)).toBe(words);
  });
});

test.each([
  [-1, '0s'],
  [0, '0s'],
  [9_999, '9s'],
  [298 * S, '4m58s'],
  [300 * S, '5m00s'],
  [2 * H + 5 * M + 59 * S, '2h05m'],
  [3 * D + 4 * H, '3d04h'],
])('a length of %i ms is %s', (ms, text) => expect(durationText(ms)).toBe(text));

test.each([
  ['2026-11-20T14:03:11Z', '2026-11-20T14:03:11Z'],
  ['2026-11-20T14:03:11.250Z', '2026-11-20T14:03:11.250Z'],
  ['2026-11-20T15:03:11+01:00', '2026-11-20T14:03:11Z'],
  ['2026-11-20 14:03:11', '2026-11-20T14:03:11Z'],
  ['2026-11-20', '2026-11-20T00:00:00Z'],
])('%s is %s in UTC', (text, iso) => expect(isoTime(parseTimestamp(text) ?? Number.NaN)).toBe(iso));

test('a time without a zone is UTC, and not of the machine', async () => {
  const { code } = await transform(readFileSync('src/core/durations.ts', 'utf8'), { loader: 'ts' });
  const input = `${code} console.log(instantOf('2026-11-20T14:00:00') === Date.UTC(2026, 10, 20, 14));`;
  const running = { input, env: { TZ: 'Asia/Tokyo' }, encoding: 'utf8' } as const;
  expect(execFileSync(process.execPath, ['--input-type=module', '-'], running)).toBe('true\n');
});

test('what is not ISO 8601 is no time', () => {
  const notTimes = ['', 'yesterday', '20', '2026', '2026-13-01T00:00:00Z', '1/2/2026', 1_700_000_000, null, {}];
  for (const value of notTimes) expect(parseTimestamp(value)).toBeUndefined();
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-01-01') }), date => {
      expect(parseTimestamp(isoTime(date.getTime()))).toBe(date.getTime());
    }),
  );
});

test('card expiry', () => {
  expect(monthText('2029-11-30T23:59:59Z')).toBe('11/29');
  expect(monthText('2029-11')).toBe('11/29');
  expect(monthText('11/29')).toBe('11/29');
  for (const value of ['2029-13', 'soon', 11, undefined]) expect(monthText(value)).toBeUndefined();
});
