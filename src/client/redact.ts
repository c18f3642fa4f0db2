/** Takes secrets out of text that a person or a log will see: debug lines, messages, samples of bodies. */
import { DETAILS } from '../contract/card.ts';
import type { Shape } from '../contract/field.ts';
import { CHALLENGE, WEBHOOK_WITH_SECRET } from '../contract/resources.ts';
import type { Secret } from '../secret.ts';

const REDACTED = '[redacted]';
/** Shorter texts would blank ordinary words and numbers. */
const SHORTEST_KNOWN = 6;

export interface Redactor {
  /** The text without anything that is or looks like a secret. */
  text(text: string): string;
  /** A secret of this process that must never be printed. */
  learn(secret: Secret): void;
}

const SHAPED_LIKE_SECRETS: readonly [RegExp, string][] = [
  [/\b(sk_(?:live|test)_)[A-Za-z0-9_-]+/g, `$1${REDACTED}`],
  [/\b(whsec_)[A-Za-z0-9_+/=-]+/g, `$1${REDACTED}`],
  [/\b(Bearer|Basic)\s+[^\s"',;]+/gi, `$1 ${REDACTED}`],
];

/** Every name, on the wire and of ours, of a field that holds a secret. Lower case. */
export const SECRET_NAMES: ReadonlySet<string> = new Set(
  [DETAILS, CHALLENGE, WEBHOOK_WITH_SECRET].flatMap(secretNames).concat('password', 'authorization', 'api_key'),
);

function secretNames(shape: Shape): string[] {
  const fields = Object.entries(shape).filter(([, field]) => field.secret);
  return fields.flatMap(([name, field]) =>
    [name, field.wire ?? name, ...(field.also ?? [])].map(each => (each.split('.').at(-1) ?? each).toLowerCase()),
  );
}

const MEMBER = new RegExp(`("(?:${[...SECRET_NAMES].join('|')})"\\s*:\\s*)("(?:[^"\\\\]|\\\\.)*"?|[^\\s,}\\]]+)`, 'gi');

/** Each service has one redactor, so that what one answer revealed is hidden in every later line. */
export function createRedactor(): Redactor {
  const known = new Set<string>();
  return {
    learn(secret) {
      if (secret.expose().length >= SHORTEST_KNOWN) known.add(secret.expose());
    },
    text(text) {
      let clean = text;
      for (const secret of known) clean = clean.replaceAll(secret, REDACTED);
      for (const [pattern, replacement] of SHAPED_LIKE_SECRETS) clean = clean.replace(pattern, replacement);
      clean = clean.replace(MEMBER, `$1"${REDACTED}"`);
      return clean.replace(/\b\d(?:[ -]?\d){12,18}\b/g, digits => (passesLuhn(digits) ? REDACTED : digits));
    },
  };
}

/** The check digit of card numbers; spaces and hyphens are ignored. */
export function passesLuhn(text: string): boolean {
  let sum = 0;
  const digits = text.replace(/[ -]/g, '');
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits.length > 0 && sum % 10 === 0;
}
