/** Conditions a person types about a record: `status=active`, `balance<20`, `label~ads`; for filters and waits. */
import { CliError } from '../errors.ts';
import { centsOf, parseAmount } from '../money.ts';
import type { AnyField, Shape } from './field.ts';

export type Test = (row: Readonly<Record<string, unknown>>) => boolean;

const FORM = /^([A-Za-z0-9_]+(?:\.[^\s=!<>~]+)?)(!=|<=|>=|=|<|>|~)(.*)$/su;

/**
 * A test for `<field><op><value>` against records of `shape`; operators `= != < <= > >= ~` (contains). Money is
 * compared in cents, times as instants, the rest as text. `metadata.key` reaches into maps. An absent value passes no
 * test but `!=`, an unfit one none at all. Throws `usage` naming the fields.
 */
export function parseCondition(text: string, shape: Shape, flag: string): Test {
  const [, path = '', operator = '', wanted = ''] = FORM.exec(text) ?? [];
  const [name = '', ...rest] = path.split('.');
  const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
  if (field === undefined) {
    throw usage(
      `${flag} ${JSON.stringify(text)} is not <field><op><value>; fields: ${Object.keys(shape).join(', ')}; operators: = != < <= > >= ~`,
    );
  }
  const key = rest.join('.');
  if ((field.kind === 'map') !== (key !== '')) {
    throw usage(`${flag} ${JSON.stringify(text)}: write ${field.kind === 'map' ? `${name}.<key>` : name}`);
  }
  const compare = comparison(field, wanted, `${flag} ${JSON.stringify(text)}`);
  return row => {
    const value = key === '' ? row[name] : (row[name] as Record<string, unknown> | undefined)?.[key];
    if (value === undefined || value === null) return operator === '!=';
    if (operator === '~') return asText(value).toLowerCase().includes(wanted.toLowerCase());
    const order = compare(value);
    if (order === undefined) return false;
    return (
      { '=': order === 0, '!=': order !== 0, '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }[
        operator
      ] ?? false
    );
  };
}

/** Order of a record's value against the wanted one: below, equal or above 0; undefined when it is unfit. */
function comparison(field: AnyField, wanted: string, where: string): (value: unknown) => number | undefined {
  if (field.kind === 'money') {
    const amount = parseAmount(wanted.replace(/^-/, ''));
    if (amount === undefined) throw usage(`${where}: ${JSON.stringify(wanted)} is not an amount such as 25 or 1250.00`);
    const signed = wanted.startsWith('-') ? -amount : amount;
    return value => {
      const there = typeof value === 'number' ? centsOf(value) : undefined;
      return there === undefined ? undefined : there - signed;
    };
  }
  if (field.kind === 'integer' || field.kind === 'number') {
    const number = Number(wanted);
    if (wanted.trim() === '' || !Number.isFinite(number))
      throw usage(`${where}: ${JSON.stringify(wanted)} is not a number`);
    return value => (typeof value === 'number' ? value - number : undefined);
  }
  if (field.kind === 'time') {
    const instant = Date.parse(wanted);
    if (Number.isNaN(instant)) throw usage(`${where}: ${JSON.stringify(wanted)} is not an ISO 8601 time`);
    return value => {
      const there = Date.parse(asText(value));
      return Number.isNaN(there) ? undefined : there - instant;
    };
  }
  return value => {
    const there = asText(value);
    return there === wanted ? 0 : there < wanted ? -1 : 1;
  };
}

function asText(value: unknown): string {
  return Array.isArray(value) ? value.join(';') : String(value);
}

function usage(message: string): CliError {
  return new CliError('usage', { message, outcome: 'not_sent' });
}
