/** Forms of a signature that are read although they are not as documented, in words. */
import type { Deviation } from '../contract/signature/signature.ts';

/** What a deviation means to whoever checks signatures as they are documented: 64 lowercase hex digits, alone. */
export const DEVIATIONS: Readonly<Record<Deviation, string>> = {
  list: 'It stands in a list: a strict receiver would compare the whole text.',
  prefix: 'It stands behind a prefix such as sha256=, which is no part of the digest.',
  upper_case: 'Its hex digits are upper case; documented is lower case.',
  base64: 'It is base64; documented is hex.',
  decoded_secret: 'The secret was decoded after whsec_; documented is the secret as the text it is.',
};
