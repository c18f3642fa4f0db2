/** Names that a person gives to a profile. */
import { containsSecret } from './card-numbers.ts';

export const GIVEN_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;
export const GIVEN_NAME_RULE = '1 to 32 of a-z, 0-9, _ and -, and starts with a letter or digit';

// Random names that are printed: letters alone, so that redaction never takes one for a card number.

const LETTERS = 'ghijklmnop';

/** Two letters, a to p, for each byte. */
export function randomName(bytes: Uint8Array): string {
  return withoutDigits(Buffer.from(bytes).toString('hex'));
}

/** A text without letters above f, its digits as letters. */
export function withoutDigits(text: string): string {
  return text.replace(/[0-9]/g, digit => LETTERS[Number(digit)] ?? digit);
}

/** The text that `withoutDigits` was given. */
export function withDigits(text: string): string {
  return text.replace(/[g-p]/g, letter => `${LETTERS.indexOf(letter)}`);
}

/** Without letters that are taken for digits. */
const BASE_32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** 26 digits of base 32: 130 of the bits. */
export function base32(bytes: Uint8Array): string {
  let bits = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  while (text.length < 26) {
    text = `${BASE_32[Number(bits & 31n)]}${text}`;
    bits >>= 5n;
  }
  return text;
}

// What a caller may name a purchase.

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;
/** Names that are derived from a plan of many cards and not chosen by a person. */
const RESERVED = 'fleet/';

/** Longest words that say what a purchase is for. */
const PURPOSE_CHARACTERS = 100;

/** Why words cannot say what a purchase is for, to follow their flag; undefined when they can. */
export function purposeFault(words: string): string | undefined {
  if (containsSecret(words)) return 'holds what looks like a card number or a key, and would be kept in clear';
  if (words.trim() === '' || /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(words)) return 'is one line of text';
  return [...words].length > PURPOSE_CHARACTERS ? `has at most ${PURPOSE_CHARACTERS} characters` : undefined;
}

/** Why a name cannot be used, to follow its flag or column; undefined when it can. */
export function intentFault(name: string): string | undefined {
  if (containsSecret(name)) return 'the name holds what looks like a card number or a key, and would be kept in clear';
  if (!NAME.test(name)) {
    return `${JSON.stringify(name)} is no name: 1 to 128 letters, digits and . _ : / -, a letter or digit first`;
  }
  return name.startsWith(RESERVED)
    ? `${JSON.stringify(name)}: names that begin with ${RESERVED} are reserved`
    : undefined;
}
