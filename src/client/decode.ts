/** An object of an answer against its shape: aliases, overrides, unknown fields (ASSUMPTIONS, columns "Also"). */
import type { AnyField, Shape } from '../contract/field.ts';
import type { Secret } from '../secret.ts';
import { SECRET_NAMES } from './redact.ts';
import { isObject, type ReadValue, readValue } from './values.ts';

export interface Problem {
  /** Where in the answer: `data[3].balance`. */
  readonly path: string;
  /** `is missing`, `is not an amount …`; never the value. */
  readonly text: string;
}

export interface ReadObject {
  /** Slots of the shape and the unknown fields of the service; whole only when there are no problems. */
  readonly value: Record<string, unknown>;
  readonly problems: readonly Problem[];
  /** Warnings: the path, then what is odd. */
  readonly warnings: readonly string[];
}

export interface DecodeFacts {
  readonly shape: Shape;
  /** Path of the object in the answer, empty for the whole. */
  readonly at: string;
  /** Name on the wire that an override gives a slot. */
  readonly nameOf: (slot: string) => string | undefined;
}

interface Found {
  readonly name: string;
  readonly read: ReadValue;
}

/** Reads an object. Never throws. Unknown fields are kept, unless the shape holds secrets or their name is one. */
export function readObject(source: Readonly<Record<string, unknown>>, facts: DecodeFacts): ReadObject {
  const { shape } = facts;
  const value: Record<string, unknown> = {};
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const taken = new Set<string>();
  for (const [slot, field] of Object.entries(shape)) {
    const path = facts.at === '' ? slot : `${facts.at}.${slot}`;
    const { found, isNull } = lookUp(source, slot, { field, nameOf: facts.nameOf });
    const good = found.filter(each => each.read.ok);
    const [first] = good;
    if (first?.read.ok) {
      if (field.kind === 'sealed' && disagree(good)) {
        problems.push({ path, text: `has two candidates: ${good.map(each => each.name).join(', ')}` });
      }
      value[slot] = first.read.value;
      for (const each of good) taken.add(each.name);
      if (first.read.warning) warnings.push(`${path} ${first.read.warning}`);
    } else if (found[0] && !found[0].read.ok) {
      // An amount that cannot be trusted must not look like an absent one.
      if (field.must || field.kind === 'money') problems.push({ path, text: found[0].read.problem });
      else warnings.push(`${path} ${found[0].read.problem} and is left out`);
    } else if (field.must) problems.push({ path, text: isNull ? 'is null' : 'is missing' });
    else if (isNull) value[slot] = null;
  }
  if (!Object.values(shape).some(field => field.kind === 'sealed')) keepUnknown(source, value, { shape, taken });
  return { value, problems, warnings };
}

interface Slot {
  readonly field: AnyField;
  readonly nameOf: DecodeFacts['nameOf'];
}

/** Every candidate name that is there. Only sealed fields need all of them. */
function lookUp(source: Readonly<Record<string, unknown>>, slot: string, { field, nameOf }: Slot) {
  const override = nameOf(slot);
  const names = [...(override === undefined ? [] : [override]), field.wire ?? slot, ...(field.also ?? [])];
  const found: Found[] = [];
  let isNull = false;
  for (const name of names) {
    const raw = valueAt(source, name);
    if (raw === undefined) continue;
    if (raw === null) {
      isNull = true;
      continue;
    }
    const read = readValue(field, raw);
    found.push({ name, read });
    if (read.ok && field.kind !== 'sealed') break;
  }
  return { found, isNull };
}

/** `card.balance` goes into the object `card`, unless a member is literally called so. Own members alone count. */
export function valueAt(source: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(source, name)) return source[name];
  const [head = '', ...rest] = name.split('.');
  if (rest.length === 0 || !Object.hasOwn(source, head)) return undefined;
  const inner = source[head];
  return isObject(inner) ? valueAt(inner, rest.join('.')) : undefined;
}

function disagree(found: readonly Found[]): boolean {
  const texts = found.map(({ read }) => (read.ok ? (read.value as Secret).expose() : ''));
  return new Set(texts).size > 1;
}

interface Kept {
  readonly shape: Shape;
  readonly taken: ReadonlySet<string>;
}

function keepUnknown(source: Readonly<Record<string, unknown>>, value: Record<string, unknown>, kept: Kept): void {
  for (const [key, entry] of Object.entries(source)) {
    if (Object.hasOwn(kept.shape, key) || kept.taken.has(key) || !mayBeKept(key)) continue;
    value[key] = withoutSecrets(entry);
  }
}

/** A card object "carries no full card number" (2.1); should one come, or a webhook secret, it goes no further. */
function mayBeKept(key: string): boolean {
  return key !== '__proto__' && !SECRET_NAMES.has(key.toLowerCase());
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => mayBeKept(key));
  return Object.fromEntries(entries.map(([key, entry]) => [key, withoutSecrets(entry)]));
}
