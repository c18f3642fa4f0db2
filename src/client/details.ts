/** What is checked of card details beyond their names before anything is shown. */

import { COMBINED_EXPIRY, DETAILS } from '../contract/card.ts';
import { passesLuhn } from '../core/card-numbers.ts';
import type { Secret } from '../core/secret.ts';
import { type DecodeFacts, type Problem, type ReadObject, readObject, valueAt } from './decode.ts';

/** Month and year of `MM/YY`, `MM/YYYY`, `MMYY` or `YYYY-MM`. */
export function splitExpiry(text: string): { readonly month: number; readonly year: number } | undefined {
  const monthFirst = /^(\d{1,2})\s*[/-]\s*(\d{2}|\d{4})$/.exec(text) ?? /^(\d{2})(\d{2})$/.exec(text);
  const yearFirst = /^(\d{4})-(\d{1,2})$/.exec(text);
  const month = Number(yearFirst?.[2] ?? monthFirst?.[1]);
  const year = fullYear(Number(yearFirst?.[1] ?? monthFirst?.[2]));
  return month >= 1 && month <= 12 && Number.isFinite(year) ? { month, year } : undefined;
}

const fullYear = (year: number) => (year < 100 ? year + 2000 : year);

/** Reads details: expiry in one text or two parts, then number, code and expiry must have the right shape. */
export function readDetails(source: Readonly<Record<string, unknown>>, facts: DecodeFacts): ReadObject {
  const read = readObject(source, facts);
  const value: Record<string, unknown> = { ...read.value };
  const problems = read.problems.filter(({ path }) => !(isExpiry(path) && fillExpiry(source, value, facts)));
  if (typeof value['exp_year'] === 'number') value['exp_year'] = fullYear(value['exp_year']);
  return { value, problems: [...problems, ...shapeProblems(source, value)], warnings: read.warnings };
}

const isExpiry = (path: string) => /(?:^|\.)exp_(?:month|year)$/.test(path);

function fillExpiry(
  source: Readonly<Record<string, unknown>>,
  value: Record<string, unknown>,
  { nameOf }: DecodeFacts,
): boolean {
  const names = [nameOf('expiry'), ...COMBINED_EXPIRY].filter(name => name !== undefined);
  const texts = names.map(name => valueAt(source, name)).filter(text => typeof text === 'string');
  const [expiry] = texts.map(splitExpiry).filter(each => each !== undefined);
  if (expiry === undefined) return false;
  value['exp_month'] = expiry.month;
  value['exp_year'] = expiry.year;
  return true;
}

function shapeProblems(source: Readonly<Record<string, unknown>>, value: Readonly<Record<string, unknown>>): Problem[] {
  const problems: Problem[] = [];
  const number = (value['number'] as Secret | undefined)?.expose();
  const code = (value['cvv'] as Secret | undefined)?.expose();
  const last4 = valueAt(source, 'last4') ?? valueAt(source, 'card.last4');
  const check = (path: string, good: boolean, text: string) => good || problems.push({ path, text });
  if (number !== undefined) {
    const digits = /^\d{13,19}$/.test(number);
    check('number', digits, 'is not 13 to 19 digits');
    check('number', !digits || passesLuhn(number), 'does not pass the check digit test');
    check(
      'number',
      typeof last4 !== 'string' || number.endsWith(last4),
      'does not end in the last4 of the same answer',
    );
  }
  if (code !== undefined) check('cvv', /^\d{3,4}$/.test(code), 'is not 3 or 4 digits');
  for (const slot of ['exp_month', 'exp_year'] as const) {
    const part = value[slot];
    const { min = 0, max = 0 } = DETAILS[slot];
    if (typeof part === 'number') check(slot, part >= min && part <= max, `is not from ${min} to ${max}`);
  }
  return problems;
}
