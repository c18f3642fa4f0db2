/** Random names that are printed: letters alone, so that redaction never takes one for a card number. */

const LETTERS = 'ghijklmnop';

/** Two letters, a to p, for each byte. */
export function randomName(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/[0-9]/g, digit => LETTERS[Number(digit)] ?? digit);
}
