/**
 * An object of an answer against its shape: aliases, overrides, unknown fields
 * (docs/design/contract-and-assumptions.md, "How to read an assumption").
 */

import type { AnyField, Shape } from '../contract/field.ts';
import { SECRET_NAMES } from '../contract/secret-names.ts';
import { isObject } from '../core/objects.ts';
import type { Secret } from '../core/secret.ts';
import { isPlain, type ReadValue, readValue } from './values.ts';

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
  readonly read: Extract<ReadValue, { ok: true }>;
}

/** A field of a shape with every name it may have on the wire, the likeliest first. */
interface Slot {
  readonly slot: string;
  readonly field: AnyField;
  readonly names: readonly string[];
  /** First members of the other names. */
  readonly others: readonly string[];
}

interface Reading {
  readonly slots: readonly Slot[];
  readonly sealed: boolean;
}

const READINGS = new WeakMap<Shape, Reading>();

/** Worked out once: lists of thousands of objects have the same shape. */
function readingOf(shape: Shape): Reading {
  const known = READINGS.get(shape);
  if (known !== undefined) return known;
  const slots = Object.entries(shape).map(([slot, field]) => ({
    slot,
    field,
    names: [field.wire ?? slot, ...(field.also ?? [])],
    others: (field.also ?? []).map(name => name.split('.')[0] ?? name),
  }));
  const reading = { slots, sealed: slots.some(({ field }) => field.kind === 'sealed') };
  READINGS.set(shape, reading);
  return reading;
}

/**
 * Whether an object is what reading would make of it: the members of the shape in its order, each as it should be, and no
 * others. Lists of a million rows come here; the object itself is then the result. Not for shapes that hold secrets.
 */
export function isAsRead(source: Readonly<Record<string, unknown>>, shape: Shape): boolean {
  const { slots, sealed } = readingOf(shape);
  let next = 0;
  for (const name in source) {
    let slot = slots[next];
    while (slot !== undefined && slot.slot !== name) {
      if (slot.field.must) return false;
      next += 1;
      slot = slots[next];
    }
    if (slot === undefined) return false;
    const value = source[name];
    if (value === null ? slot.field.must || hasOther(source, slot) : !isPlain(slot.field, value)) return false;
    next += 1;
  }
  for (; next < slots.length; next += 1) if (slots[next]?.field.must) return false;
  return !sealed;
}

/** Whether another member may hold the value that is null here. */
function hasOther(source: Readonly<Record<string, unknown>>, { others }: Slot): boolean {
  for (const name of others) if (Object.hasOwn(source, name)) return true;
  return false;
}

/** Reads an object. Never throws. Unknown fields are kept, unless the shape holds secrets or their name is one. */
export function readObject(source: Readonly<Record<string, unknown>>, facts: DecodeFacts): ReadObject {
  const { shape, at, nameOf } = facts;
  const value: Record<string, unknown> = {};
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const taken = new Set<string>();
  const { slots, sealed } = readingOf(shape);
  for (const { slot, field, names } of slots) {
    const override = nameOf(slot);
    const raw = override === undefined && names[0] === slot && Object.hasOwn(source, slot) ? source[slot] : undefined;
    if (raw !== undefined && isPlain(field, raw)) {
      value[slot] = raw;
      continue;
    }
    const path = () => (at === '' ? slot : `${at}.${slot}`);
    const { good, bad, isNull } = lookUp(source, field, namesFor(names, override));
    const [first] = good;
    if (first !== undefined) {
      if (field.kind === 'sealed' && disagree(good)) {
        problems.push({ path: path(), text: `has two candidates: ${good.map(each => each.name).join(', ')}` });
      }
      value[slot] = first.read.value;
      for (const each of good) if (each.name !== slot) taken.add(each.name);
      if (first.read.warning) warnings.push(`${path()} ${first.read.warning}`);
    } else if (bad !== undefined) {
      // An amount that cannot be trusted must not look like an absent one.
      if (field.must || field.kind === 'money' || field.only !== undefined) problems.push({ path: path(), text: bad });
      else warnings.push(`${path()} ${bad} and is left out`);
    } else if (field.must) problems.push({ path: path(), text: isNull ? 'is null' : 'is missing' });
    else if (isNull) value[slot] = null;
  }
  if (!sealed) keepUnknown(source, value, { shape, taken });
  return { value, problems, warnings };
}

function namesFor(names: readonly string[], override: string | undefined): readonly string[] {
  return override === undefined ? names : [override, ...names];
}

const NOTHING: { readonly good: readonly Found[]; readonly bad?: string; readonly isNull: boolean } = {
  good: [],
  isNull: false,
};

/** The first candidate name with a readable value, or why the first one there is not; of sealed fields all of them. */
function lookUp(source: Readonly<Record<string, unknown>>, field: AnyField, names: readonly string[]): typeof NOTHING {
  let isNull = false;
  let bad: string | undefined;
  let good: Found[] | undefined;
  for (const name of names) {
    const raw = valueAt(source, name);
    if (raw === undefined) continue;
    if (raw === null) {
      isNull = true;
      continue;
    }
    const read = readValue(field, raw);
    if (!read.ok) {
      bad ??= read.problem;
      continue;
    }
    good ??= [];
    good.push({ name, read });
    if (field.kind !== 'sealed') break;
  }
  if (good === undefined && bad === undefined && !isNull) return NOTHING;
  return { good: good ?? [], ...(bad !== undefined && { bad }), isNull };
}

/** `card.balance` goes into the object `card`, unless a member is literally called so. Own members alone count. */
export function valueAt(source: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(source, name)) return source[name];
  if (!name.includes('.')) return undefined;
  const [head = '', ...rest] = name.split('.');
  if (rest.length === 0 || !Object.hasOwn(source, head)) return undefined;
  const inner = source[head];
  return isObject(inner) ? valueAt(inner, rest.join('.')) : undefined;
}

function disagree(found: readonly Found[]): boolean {
  const texts = found.map(({ read }) => (read.value as Secret).expose());
  return new Set(texts).size > 1;
}

interface Kept {
  readonly shape: Shape;
  readonly taken: ReadonlySet<string>;
}

function keepUnknown(source: Readonly<Record<string, unknown>>, value: Record<string, unknown>, kept: Kept): void {
  for (const key of Object.keys(source)) {
    if (Object.hasOwn(kept.shape, key) || kept.taken.has(key) || !mayBeKept(key)) continue;
    value[key] = withoutSecrets(source[key]);
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
