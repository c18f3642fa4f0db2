/** Values completion knows from the contract alone, without asking anything. */
import type { ValueProvider } from './complete.ts';

/** Names of events; every other kind of value lives in the service. */
export const contractValues: ValueProvider = async ({ names }) => {
  if (names !== 'event') return [];
  const { EVENTS } = await import('../../contract/events.ts');
  return Object.entries(EVENTS).map(([value, { meaning }]) => ({ value, means: meaning }));
};
