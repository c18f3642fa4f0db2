/**
 * Contract overrides (docs/design/cli.md): where a real service's routes or names differ from what is assumed.
 * `read-overrides.ts` reads the text of a file; the client applies it.
 */
import type { HeaderName } from './envelopes.ts';
import type { Method } from './operation.ts';

export interface OperationOverride {
  readonly method?: Method;
  readonly path?: `/${string}`;
  /** Fixed members added to the body, for example `{ "status": "frozen" }`. */
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface Overrides {
  readonly operations: Readonly<Record<string, OperationOverride>>;
  /** `details.number` -> name on the wire. The first part is a resource, see `FIELD_GROUPS`. */
  readonly fields: Readonly<Record<string, string>>;
  readonly headers: Readonly<Partial<Record<HeaderName, string>>>;
}

export const NO_OVERRIDES: Overrides = { operations: {}, fields: {}, headers: {} };

/** Resources whose field names may be overridden. */
export const FIELD_GROUPS = [
  'card',
  'bin',
  'wallet',
  'address',
  'challenge',
  'transaction',
  'webhook',
  'details',
  'funding',
] as const;

const GROUPS: Readonly<Record<string, (typeof FIELD_GROUPS)[number]>> = {
  'cards.details': 'details',
  'cards.fund': 'funding',
  'cards.withdraw': 'funding',
  'wallet.addresses': 'address',
  bins: 'bin',
  cards: 'card',
  wallet: 'wallet',
  challenges: 'challenge',
  transactions: 'transaction',
  webhooks: 'webhook',
};

/** What an override calls a field of an operation: `card.label`. */
export function fieldKey(operation: string, slot: string): string {
  return `${GROUPS[operation] ?? GROUPS[operation.split('.')[0] ?? '']}.${slot}`;
}

/** Name on the wire that an override gives a field of an operation. */
export function wireName(operation: string, slot: string, overrides: Overrides): string | undefined {
  if (overrides.fields === NO_OVERRIDES.fields) return undefined;
  const key = fieldKey(operation, slot);
  return Object.hasOwn(overrides.fields, key) ? overrides.fields[key] : undefined;
}
