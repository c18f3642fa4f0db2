/** Which header of a delivery carries the signature: its name is not shown. */
import { HEADERS } from '../envelopes.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Names other services use. */
const USUAL = ['X-Signature', 'Webhook-Signature', 'Signature', 'X-Hub-Signature-256'];

/**
 * The signature among headers whose names are lower case, undefined when there is none. With `name` only that header
 * counts; without, the assumed one, the usual ones, else the only one that speaks of a signature.
 */
export function signatureIn(headers: Headers, name?: string): string | undefined {
  const names = name === undefined ? [HEADERS.webhook_signature.name, ...USUAL] : [name];
  for (const each of names) {
    const value = textOf(headers[each.toLowerCase()]);
    if (value !== undefined) return value;
  }
  const speaking = name === undefined ? Object.keys(headers).filter(each => /signature/i.test(each)) : [];
  return speaking.length === 1 ? textOf(headers[speaking[0] ?? '']) : undefined;
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(',') : value;
}
