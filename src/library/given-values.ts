/** What a program hands over, checked by its form. What was given is never repeated: it may be a secret. */
import { DAY } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';

export const isText = (value: unknown) => typeof value === 'string';
export const isAbsent = (value: unknown) => value === undefined || value === null;

/** Throws `usage`. */
export function needObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw missing(name, 'an object', value);
}

/** Throws `usage`. */
export function needText(name: string, value: unknown): void {
  if (!isText(value)) throw missing(name, 'text', value);
}

/** How one value is checked; throws `usage`. */
export type Check = (name: string, value: unknown) => void;

/** Throws `usage` for a name that is not there, and for a value of another form. What is undefined counts as left out. */
export function checkOptions(given: object, checks: Readonly<Record<string, Check>>): void {
  const known = new Map(Object.entries(checks));
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const check = known.get(name);
    if (check === undefined) throw wrongly(`${name} is not known here; known: ${[...known.keys()].join(', ')}`);
    check(name, value);
  }
}

/** Longer ones are a mistake, and timers of Node know no more than 24 days. */
const MOST_MS = DAY;

/** Throws `usage`. */
export function needMilliseconds(name: string, value: unknown): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MOST_MS) return;
  throw wrongly(`${name} must be a whole number of milliseconds, from 1 to ${MOST_MS}`);
}

/** Throws `usage`. */
export function needBoolean(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw missing(name, 'true or false', value);
}

/** Throws `usage`. */
export function needFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw missing(name, 'a function', value);
}

/** By what is used of it: that of a test environment is of another class. Throws `usage`. */
export function needSignal(name: string, value: unknown): void {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  if (typeof aborted !== 'boolean' || typeof addEventListener !== 'function') {
    throw missing(name, 'an AbortSignal', value);
  }
}

export function missing(name: string, form: string, value: unknown): CliError {
  return wrongly(isAbsent(value) ? `${name} is missing` : `${name} must be ${form}`);
}

export function wrongly(message: string, operation?: string): CliError {
  return new CliError('usage', { message, outcome: 'not_sent', ...(operation !== undefined && { operation }) });
}
