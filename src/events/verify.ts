/** Whether a payload is signed as it should be, and in words why not (interface 6, A-72, A-75). */
import { type Deviation, explainMismatch, matchSignature } from '../contract/signature/signature.ts';
import type { Secret } from '../core/secret.ts';

/**
 * Checks the signature of exactly these bytes against every secret. `secret` is the place of the one that matched, `deviations` are
 * none for a signature exactly as documented. `explanations` are the usual mistakes that explain it, each but a missing or unreadable
 * signature certain; none for another secret. Never throws.
 */
export function verifyPayload(bytes: Uint8Array, signature: string, secrets: readonly Secret[]) {
  const match = matchSignature(bytes, signature, secrets);
  if (match !== undefined) return { verified: true, ...match } as const;
  return { verified: false, explanations: explainMismatch(bytes, signature, secrets) } as const;
}

export type Unverified = Extract<ReturnType<typeof verifyPayload>, { readonly verified: false }>;

/** What a deviation means to whoever checks signatures as they are documented: 64 lowercase hex digits, alone. */
export const DEVIATIONS: Readonly<Record<Deviation, string>> = {
  list: 'It stands in a list: a strict receiver would compare the whole text.',
  prefix: 'It stands behind a prefix such as sha256=, which is no part of the digest.',
  upper_case: 'Its hex digits are upper case; documented is lower case.',
  base64: 'It is base64; documented is hex.',
  decoded_secret: 'The secret was decoded after whsec_; documented is the secret as the text it is.',
};
