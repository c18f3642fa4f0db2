/**
 * Every order in which a few operators, their clocks, the wire, the service and the database can do things
 * (docs/design/team.md, section 8). What the program decides by a function is decided by that function here.
 * `histories.md` keeps how each missing rule is seen.
 */
import { describe, expect, test } from 'vitest';
import { countAll, KEYS_ALONE, TRUSTED } from './approvals.ts';
import { BACKUP, FAILOVER, MUTANTS, NAMELESS, RESENDING } from './mutants.ts';
import { pageOf } from './report.ts';
import { type Searched, search } from './search.ts';
import type { Bounds } from './world.ts';

/** The smallest of each kind; `explorer.full.ts` has the others. */
const KEPT: Readonly<Record<string, Bounds>> = {
  'one command twice, without a name': NAMELESS,
  '--resend-absent, a clock that is slow': { ...RESENDING, clocks: [-2, 0], crashes: 0 },
  'a standby, and one operator is left out by name': { ...FAILOVER, leavesOut: true, ticks: 0 },
  'a backup without the last SENT': { ...BACKUP, sentWithClaim: false, commands: [2, 1], ticks: 0 },
};

const EXPECTED_TO_BREAK: Readonly<Record<string, Bounds>> = {
  '--resend-absent, and a process stands still before its request for longer than its lease': {
    ...RESENDING,
    crashes: 0,
    standsStill: true,
  },
  'a backup is restored, and its name is used before a machine that knows of it has reported the loss': {
    ...BACKUP,
    strict: true,
  },
  'an admin leaves a machine out that has used the name': { ...FAILOVER, leavesOut: true, strict: true },
};

const pages: string[] = [];

function explored(what: string, searched: Searched): Searched {
  pages.push(pageOf(what, searched));
  return searched;
}

describe('what a shared journal promises', () => {
  test.each(Object.entries(KEPT))('%s', (what, bounds) => {
    const { broken, carriedOut, takenOver } = explored(what, search(bounds));
    expect(broken).toBeUndefined();
    expect(carriedOut).toBeGreaterThan(0);
    expect(takenOver).toBeGreaterThan(0);
  });

  test.each(Object.entries(EXPECTED_TO_BREAK))('is not promised: %s', (what, bounds) => {
    expect(explored(`Not promised: ${what}`, search(bounds)).broken).toBeDefined();
  });

  test('is counted in persons: every list of three signatures', () => {
    const { lists, released, broken } = countAll(TRUSTED, 3);
    expect({ lists, broken }).toEqual({ lists: 156, broken: undefined });
    expect(released).toBeGreaterThan(0);
  });
});

describe('a rule that is left out is missed', () => {
  test.each(MUTANTS)('$what', ({ what, bounds, rules }) => {
    expect(explored(`Without a rule: ${what}`, search(bounds, rules)).broken).toBeDefined();
  });

  test('keys are counted, and not persons', () => {
    const { lists, broken } = countAll(KEYS_ALONE, 3);
    expect(broken).toEqual(['signed with the key of ana', 'signed with the first key of ben']);
    pages.push(
      `## Without a rule: keys are counted, and not persons\n\n${lists} lists\n\n${broken?.map(line => `- ${line}\n`).join('')}`,
    );
  });

  test('and what was found is what is kept', async () => {
    const text = `# Histories of a shared journal\n\nMade by explorer.test.ts.\n\n${pages.join('\n')}`;
    await expect(text).toMatchFileSnapshot('histories.md');
  });
});
