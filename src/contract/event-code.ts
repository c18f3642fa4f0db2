/** The text of an event without its one-time code, for whoever looks at it by the way. */
import { EVENTS } from './events.ts';

/** What stands in place of a code. */
export const HIDDEN_CODE = '[hidden]';

/** As it was where its event has no secret field; JSON written anew where one was taken out. */
export function withoutCode(type: string, body: string): string {
  const fields = Object.hasOwn(EVENTS, type) ? EVENTS[type as keyof typeof EVENTS].data : {};
  const secret = Object.entries(fields).filter(([, field]) => field.secret);
  if (secret.length === 0) return body;
  const event = JSON.parse(body) as { readonly data?: Readonly<Record<string, unknown>> };
  const data: Record<string, unknown> = { ...event.data };
  for (const [name, { wire = name }] of secret) if (Object.hasOwn(data, wire)) data[wire] = HIDDEN_CODE;
  return JSON.stringify({ ...event, data });
}
