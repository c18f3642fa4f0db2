/** Which operations go through a journal. */
import type { Operation } from './operation.ts';
import { CALLS } from './raw.ts';

/** Create, fund, withdraw, and terminate, which moves the balance back: what a journal keeps, and what takes an intent. */
export function isJournaled(operation: string): boolean {
  const row = Object.hasOwn(CALLS, operation) ? (CALLS as Readonly<Record<string, Operation>>)[operation] : undefined;
  return row?.effect === 'moves-money' || (row?.effect === 'irreversible' && row.leadsTo !== undefined);
}
