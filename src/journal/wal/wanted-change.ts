/**
 * What a change asks for, in one form: two commands that ask the service for the same thing in other words are the same change.
 * Which fields are lists, texts and maps, and which the service fills in itself, stands in the contract.
 */
import type { AnyField, Shape } from '../../contract/field.ts';
import type { Operation } from '../../contract/operation.ts';
import { CALLS } from '../../contract/raw.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * The same values in one form: a list is a set, a text is compared as it looks (NFC, without spaces around it), and what is
 * empty was not asked for. Members that the contract does not know stay as they are.
 */
export function wantedChange(operation: string, input: unknown): unknown {
  const fields = fieldsOf(operation);
  if (fields === undefined || typeof input !== 'object' || input === null) return input;
  const members = Object.entries(input).flatMap(([name, value]) => {
    const wanted = wantedValue(fields[name], value);
    return wanted === undefined ? [] : [[name, wanted] as const];
  });
  return Object.fromEntries(members);
}

/**
 * Names of the values that were given and that the service fills in itself where they are left out, with what nobody here knows
 * (`the BIN's max_monthly`).
 */
export function givenDefaults(operation: string, input: Values): readonly string[] {
  const fields = fieldsOf(operation) ?? {};
  const named = Object.keys(fields).filter(name => typeof fields[name]?.defaults === 'string');
  return named.filter(name => wantedValue(fields[name], input[name]) !== undefined);
}

/** The same without the values that the service may fill in itself. */
export function withoutDefaults(operation: string, input: Values): Values {
  const given = new Set(givenDefaults(operation, input));
  return given.size === 0 ? input : Object.fromEntries(Object.entries(input).filter(([name]) => !given.has(name)));
}

const known = new Map<string, Shape>();

function fieldsOf(operation: string): Shape | undefined {
  if (!Object.hasOwn(CALLS, operation)) return undefined;
  const { params, query, body } = (CALLS as Readonly<Record<string, Operation>>)[operation] ?? {};
  const fields = known.get(operation) ?? { ...params, ...query, ...body };
  known.set(operation, fields);
  return fields;
}

/** Undefined for what says as much as nothing. */
function wantedValue(field: AnyField | undefined, value: unknown): unknown {
  if (field === undefined) return value;
  if (value === null) return undefined;
  if (typeof value === 'string') return textOf(value) || undefined;
  if (field.kind === 'list' && Array.isArray(value)) {
    const all = value.map(each => (typeof each === 'string' ? textOf(each) : each));
    return all.length === 0 ? undefined : [...new Set(all)].sort();
  }
  const isEmptyMap = field.kind === 'map' && typeof value === 'object' && Object.keys(value as object).length === 0;
  return isEmptyMap ? undefined : value;
}

function textOf(value: string): string {
  return value.normalize('NFC').trim();
}
