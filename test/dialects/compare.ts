/** Two tellings of the story, line by line. */
import { expect } from 'vitest';
import type { DialectName } from '../../src/contract/sandbox/faults.ts';
import { DIFFERENCES, type Told } from './commands.ts';

/** Fails for a line that differs without a reason, and for a reason without a line that differs. */
export async function differing(dialect: DialectName, usual: readonly Told[], other: readonly Told[]): Promise<void> {
  const reasons = DIFFERENCES[dialect];
  const seen = new Set<string>();
  for (const [index, { line, facts }] of other.entries()) {
    if (reasons[line] === undefined) expect({ line, ...(facts as object) }).toEqual({ line, ...factsAt(usual, index) });
    else if (JSON.stringify(facts) !== JSON.stringify(usual[index]?.facts)) seen.add(line);
  }
  expect([...seen].sort()).toEqual(Object.keys(reasons).sort());
}

const factsAt = (all: readonly Told[], index: number) => all[index]?.facts as object;
