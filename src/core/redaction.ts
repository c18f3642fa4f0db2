/** What keys, signing secrets and card numbers look like, and how they are taken out of a text. */

export const REDACTED = '[redacted]';

const PATTERNS: readonly [RegExp, string][] = [
  [/(?<![A-Za-z])(sk[_-](?:live|test)[_-])[A-Za-z0-9_-]+/gi, `$1${REDACTED}`],
  // Behind a letter it is a word such as risk_test_1, unless it goes on as only a key does.
  [/(sk[_-](?:live|test)[_-])[A-Za-z0-9_-]{12,}/gi, `$1${REDACTED}`],
  [/(whsec[_-])[A-Za-z0-9_+/=-]+/gi, `$1${REDACTED}`],
  [/(Bearer)(?:[\s:=+]|%20)+[^\s"'<>,;]+/gi, `$1 ${REDACTED}`],
  [/\b(Basic)(?:\s|%20)+[^\s"'<>,;]+/gi, `$1 ${REDACTED}`],
];

/** What every one of the patterns begins with: most texts have none of it, and are done. */
const MAY_MATCH = /sk[_-](?:live|test)|whsec|bearer|basic/i;

/** Variables that hold a secret, whatever it looks like. */
export const SECRET_VARIABLES = ['CARDWRIGHT_API_KEY', 'CARDWRIGHT_SANDBOX_TOKEN'] as const;

/** Shorter texts would blank ordinary words and numbers. */
export const SHORTEST_SECRET = 6;

/** The text without anything that has the shape of a secret. */
export function withoutPatterns(text: string): string {
  if (!MAY_MATCH.test(text)) return text;
  return PATTERNS.reduce((clean, [pattern, replacement]) => clean.replace(pattern, replacement), text);
}

/** The name of its kind that a key or a secret begins with. */
export const SECRET_KIND = /^(?:sk_(?:live|test)_|whsec_)/;
/** An API key or the secret of a webhook as services write them: what no free text has a reason to hold. */
const KEY_OR_SECRET = /(?<![A-Za-z0-9])sk_(?:live|test)_[A-Za-z0-9_-]{8,}|(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/=_-]+/;

/** Whether an API key or the secret of a webhook stands in the text, also with invisible characters in between. */
export function holdsKeyOrSecret(text: string): boolean {
  return KEY_OR_SECRET.test(asRead(text));
}

/** The text without the given secrets. */
export function withoutSecrets(text: string, known: Iterable<string>): string {
  let clean = text;
  for (const secret of known) if (secret.length >= SHORTEST_SECRET) clean = clean.replaceAll(secret, REDACTED);
  return clean;
}

/** Whether UTF-8 text holds none of the given secrets. */
export function holdsNone(bytes: Uint8Array, known: Iterable<string>): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const secret of known) if (secret.length >= SHORTEST_SECRET && text.includes(secret)) return false;
  return true;
}

/**
 * The text as a person reads it: wide digits and those of any script as digits, every space as a space, nothing invisible. A secret is looked
 * for in this form.
 */
export function asRead(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/[^\P{Nd}0-9]/gu, asciiDigit);
}

/** Digits of other scripts stand in runs of ten, zero first. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  while (code - first < 9 && /\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return String(code - first);
}
