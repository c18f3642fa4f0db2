import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../src/contract/events.ts';
import { LIMITS } from '../../src/contract/limits.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { NO_OVERRIDES } from '../../src/contract/overrides.ts';
import { type Fact, facts } from '../../src/contract/provenance.ts';
import { REFUSALS } from '../../src/contract/refusals.ts';
import { ADMIN_OPERATIONS } from '../../src/contract/sandbox/admin.ts';

const all = facts(NO_OVERRIDES);
const named = (name: string, from: readonly Fact[] = all) => from.find(fact => fact.name === name);
const names = (kind: Fact['kind']) => all.filter(fact => fact.kind === kind).map(({ name }) => name);

describe('facts', () => {
  it('has facts of every section', () => {
    const sections = '2.1 2.2 2.3 2.4 2.5 2.6 2.7 3 4 4.1 4.2 4.3 4.4 4.5 5 6 7 8 9'.split(' ');
    expect(sections.filter(section => all.every(fact => fact.section !== section))).toEqual([]);
  });

  it('says of every fact where it is known from, and why where it is assumed', () => {
    for (const { name, stated, assumed, why, taken } of all) {
      expect(stated ?? assumed, name).toBeDefined();
      if (assumed !== undefined)
        expect({ why: why !== '', taken: taken !== '' }, name).toEqual({ why: true, taken: true });
    }
  });

  it('holds every operation, event, refusal and limit, and nothing of the sandbox', () => {
    expect(
      names('operation')
        .filter(name => !name.endsWith(' answer'))
        .sort(),
    ).toEqual(Object.keys(OPERATIONS).sort());
    expect(names('event')).toEqual(Object.keys(EVENTS));
    expect(names('error')).toEqual(Object.keys(REFUSALS));
    expect(names('limit')).toEqual(Object.keys(LIMITS));
    for (const name of Object.keys(ADMIN_OPERATIONS)) expect(named(name)).toBeUndefined();
  });
});
