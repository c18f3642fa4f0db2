/** SIGKILL of the built program while it applies, 60 times where keys are honoured and 60 times where they are ignored. */
import { expect, test } from 'vitest';
import { strikes } from './killed-program.ts';

const STRIKES = Number(process.env['FLEET_STRIKES'] ?? 60);

test.each(['default', 'keys-ignored'] as const)(
  'killed by SIGKILL, keys of the dialect %s: one card a name, no cent lost, nothing left to do',
  async dialect => {
    const { kills, survived, midway, broken } = await strikes(STRIKES, dialect);
    process.stdout.write(`${dialect}: ${kills} kills, ${midway} of them midway, ${survived} survived\n`);
    expect(broken).toEqual([]);
    expect(kills).toBeGreaterThan(STRIKES / 2);
    expect(midway).toBeGreaterThan(STRIKES / 5);
  },
  3_600_000,
);
