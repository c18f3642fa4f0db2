/** Every boundary of three fleets, with the journal and without it, keys honoured and ignored. */
import { expect, test } from 'vitest';
import { FLEETS, type Setting, sweep } from './killed.ts';

const HOUR = 3_600_000;
const SETTINGS = (Object.keys(FLEETS) as Setting['fleet'][]).flatMap(fleet =>
  [true, false].flatMap(honoured =>
    (['kept', 'lost'] as const).flatMap(journal =>
      (['resume', 'new plan'] as const).map(goesOn => ({ fleet, honoured, journal, goesOn })),
    ),
  ),
);

test.each(SETTINGS)(
  '%o',
  async setting => {
    const { kills, broken } = await sweep(setting);
    expect(broken).toEqual([]);
    expect(kills).toBeGreaterThan(20);
  },
  HOUR,
);
