/**
 * An answer that no row describes, without what must not be seen: values under the name of a secret, whatever looks
 * like a card number, key or signing secret, and the short digits that stand beside a card number.
 */

import type { RawAnswer } from '../contract/operation.ts';
import { SECRET_NAMES } from '../contract/secret-names.ts';
import { passesLuhn } from '../core/card-numbers.ts';
import { isInexact } from '../core/masked-values.ts';
import { isObject } from '../core/objects.ts';
import { REDACTED } from '../core/redaction.ts';
import { type Decoded, inexactAt } from './answer.ts';
import { textOf } from './headers.ts';
import type { Redactor } from './redact.ts';
import type { WireHeaders } from './transport.ts';

export interface Cleaned {
  readonly value: unknown;
  /** Values that were taken out. */
  readonly hidden: number;
  /** Names of numbers with more digits than are kept of one. */
  readonly inexact: readonly string[];
}

/** Never throws. Depth is bounded by `readBody`. */
export function withoutSecrets(value: unknown, redactor: Redactor): Cleaned {
  let hidden = 0;
  const inexact = new Set<string>();
  const hide = () => {
    hidden += 1;
    return REDACTED;
  };
  const clean = (part: unknown, at: string): unknown => {
    if (typeof part === 'string') {
      const text = redactor.text(part);
      return text === part ? part : hide() && text;
    }
    if (typeof part === 'number') {
      if (isCardNumber(part)) return hide();
      if (isInexact(part)) inexact.add(at);
      return part;
    }
    if (Array.isArray(part)) return part.map(each => clean(each, at));
    return isObject(part) ? cleanMembers(part) : part;
  };
  const cleanMembers = (members: Readonly<Record<string, unknown>>): unknown => {
    const before = hidden;
    const kept = Object.entries(members).map(([name, part]) => {
      const secret = SECRET_NAMES.has(name.toLowerCase()) && part !== null && part !== '';
      return [redactor.text(name), secret ? hide() : clean(part, name)] as const;
    });
    // A number was here, so three or four digits beside it are its code, under whatever name.
    const beside = hidden > before && kept.some(([, part]) => part === REDACTED);
    return Object.fromEntries(
      kept.map(([name, part]) => [name, beside && name !== 'last4' && isCode(part) ? hide() : part]),
    );
  };
  return { value: clean(value, 'the answer'), hidden, inexact: [...inexact] };
}

interface Received {
  readonly status: number;
  readonly headers: WireHeaders;
}

/** The answer of a raw request; a body that is no JSON is undefined. */
export function decodeRaw({ status, headers }: Received, came: unknown, redactor: Redactor): Decoded {
  const { value, hidden, inexact } = withoutSecrets(came, redactor);
  const shown = Object.entries(headers).filter(([name]) => !/^(?:set-cookie|proxy-|www-authenticate)/i.test(name));
  const result: RawAnswer = {
    status,
    headers: Object.fromEntries(shown.map(([name, text]) => [name.toLowerCase(), redactor.text(textOf(text ?? ''))])),
    body: value,
    hidden,
  };
  return { result, problems: [], contradicts: false, warnings: inexact.map(inexactAt) };
}

function isCardNumber(value: number): boolean {
  return Number.isSafeInteger(value) && /^\d{13,19}$/.test(String(value)) && passesLuhn(String(value));
}

function isCode(value: unknown): boolean {
  return (typeof value === 'string' || typeof value === 'number') && /^\d{3,4}$/.test(String(value));
}
