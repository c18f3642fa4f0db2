/** What a program hands over, checked by its form. What was given is never repeated: it may be a secret. */
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

export function missing(name: string, form: string, value: unknown): CliError {
  return wrongly(isAbsent(value) ? `${name} is missing` : `${name} must be ${form}`);
}

export function wrongly(message: string): CliError {
  return new CliError('usage', { message, outcome: 'not_sent' });
}
