/**
 * What "the same change" means: a digest of what is wanted, however it was written. Which fields are lists, texts and maps, and
 * which the service fills in itself, stands in the contract.
 */
import { hash } from 'node:crypto';
import { CALLS } from '../contract/calls.ts';
import type { AnyField, Shape } from '../contract/field.ts';
import type { Operation } from '../contract/operation.ts';

interface DigestedRow {
  readonly operation: string;
  readonly input: unknown;
  /** Values in place of those that were chosen for the caller: the same command may choose others the next time. */
  readonly asked?: object | undefined;
}

/**
 * Digest of wanted changes, the same for the same input however it was written: the members of a row are sorted, and
 * so are the rows. A file in another order asks for the same cards. Money is cents, so `25` and `25.00` are one; what else
 * is one stands in `wantedChange`.
 */
export function inputDigest(rows: Iterable<DigestedRow>): string {
  const each = Array.from(rows, row => hash('sha256', lineOf(row), 'buffer'));
  const [only] = each;
  if (only !== undefined && each.length === 1) return only.toString('hex');
  return hash('sha256', Buffer.concat(each.sort(Buffer.compare)));
}

/** Digest of one wanted change, by which rows of different inputs are compared. */
export function rowDigest(row: DigestedRow): string {
  return hash('sha256', lineOf(row), 'base64');
}

function lineOf({ operation, input, asked }: DigestedRow): string {
  const wanted = asked === undefined ? input : { ...(input as object), ...asked };
  return `${operation} ${sortedJson(wantedChange(operation, wanted))}\n`;
}

function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${sortedJson(member)}`).join(',')}}`;
}

/**
 * Values in one form: a list is a set, a text is compared as it looks (NFC, without spaces around it), and what is
 * empty was not asked for (A-169). Members that the contract does not know stay as they are.
 */
function wantedChange(operation: string, input: unknown): unknown {
  const fields = fieldsOf(operation);
  if (fields === undefined || typeof input !== 'object' || input === null) return input;
  const members = Object.entries(input).flatMap(([name, value]) => {
    const wanted = wantedValue(fields[name], value);
    return wanted === undefined ? [] : [[name, wanted] as const];
  });
  return Object.fromEntries(members);
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
