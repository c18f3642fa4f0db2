/** What keys, signing secrets and card numbers look like, and how they are taken out of a text. */

export const REDACTED = '[redacted]';

const SHAPES: readonly [RegExp, string][] = [
  [/\b(sk_(?:live|test)_)[A-Za-z0-9_-]+/g, `$1${REDACTED}`],
  [/\b(whsec_)[A-Za-z0-9_+/=-]+/g, `$1${REDACTED}`],
  [/\b(Bearer|Basic)\s+[^\s"',;]+/gi, `$1 ${REDACTED}`],
];

/** Variables that hold a secret, whatever it looks like. */
export const SECRET_VARIABLES = ['CARDWRIGHT_API_KEY', 'CARDWRIGHT_SANDBOX_TOKEN'] as const;

/** Shorter texts would blank ordinary words and numbers. */
export const SHORTEST_KNOWN = 6;

/** The text without anything that has the shape of a secret. */
export function withoutShapes(text: string): string {
  return SHAPES.reduce((clean, [pattern, replacement]) => clean.replace(pattern, replacement), text);
}

/** The text without the given secrets. */
export function withoutKnown(text: string, known: Iterable<string>): string {
  let clean = text;
  for (const secret of known) if (secret.length >= SHORTEST_KNOWN) clean = clean.replaceAll(secret, REDACTED);
  return clean;
}

/** Whether UTF-8 text holds none of the given secrets. */
export function holdsNone(bytes: Uint8Array, known: Iterable<string>): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const secret of known) if (secret.length >= SHORTEST_KNOWN && text.includes(secret)) return false;
  return true;
}

/** The text without anything that could be a card number: 13 to 19 digits with a right check digit. */
export function withoutCardNumbers(text: string): string {
  return text.replace(/\b\d(?:[ -]?\d){12,18}\b/g, digits => (passesLuhn(digits) ? REDACTED : digits));
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
