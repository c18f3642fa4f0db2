/** A delivered payload as an event, whatever its names are. Read only after its signature was checked. */

import { createHash } from 'node:crypto';
import { EVENT_DATA, EVENT_ENVELOPE, EVENT_ID_HEADERS } from '../contract/events.ts';
import { staysWhole } from '../contract/whole-names.ts';
import { withoutCardNumbers } from '../core/card-numbers.ts';
import { maskedValue } from '../core/masked-values.ts';
import { isObject } from '../core/objects.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface DeliveredEvent {
  /** The event's own id; a digest of the payload where it has none. */
  readonly id: string;
  readonly type: string;
  /** As the service wrote it; null where it does not say. */
  readonly created_at: string | null;
  readonly data: unknown;
}

export interface ReadEvent {
  /** Without card numbers: an event is no card's details. */
  readonly event: DeliveredEvent;
  /** Where in its object one stood. */
  readonly hidden: readonly string[];
  /** Where a number has more digits than are kept of one. */
  readonly inexact: readonly string[];
}

/** Reads a payload. Never throws: what is no JSON object is an event without a type. */
export function readEvent(bytes: Uint8Array, headers: Readonly<Record<string, unknown>>): ReadEvent {
  const payload = parsed(bytes);
  const created = textOf(payload, 'created_at');
  const { value: data, hidden, inexact } = maskedValue(dataOf(payload), staysWhole);
  const event = {
    id: textOf(payload, 'id') ?? headerId(headers) ?? `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    type: withoutCardNumbers(textOf(payload, 'type') ?? ''),
    created_at: created ?? null,
    data,
  };
  return { event, hidden, inexact };
}

function parsed(bytes: Uint8Array): Fields {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isObject(value) ? value : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function textOf(payload: Fields, slot: keyof typeof EVENT_ENVELOPE): string | undefined {
  for (const name of [slot, ...(EVENT_ENVELOPE[slot].also ?? [])]) {
    const value = Object.hasOwn(payload, name) ? payload[name] : undefined;
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number' && slot === 'id') return String(value);
  }
  return undefined;
}

function headerId(headers: Fields): string | undefined {
  const value = EVENT_ID_HEADERS.map(name => headers[name.toLowerCase()]).find(each => typeof each === 'string');
  return value === undefined || value === '' ? undefined : String(value);
}

function dataOf(payload: Fields): unknown {
  for (const path of EVENT_DATA) {
    let value: unknown = payload;
    for (const name of path.split('.')) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    if (isObject(value)) return value;
  }
  return payload;
}
