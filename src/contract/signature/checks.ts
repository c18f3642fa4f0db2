/** Programs that check a signature, three lines each, to be copied: `secret` is text, `body` the bytes, `signature` the header. */

export const SIGNATURE_CHECKS = [
  {
    language: 'Node',
    text: `import { createHmac, timingSafeEqual } from 'node:crypto';
const expected = createHmac('sha256', secret).update(body).digest('hex');
const holds = signature.length === 64 && timingSafeEqual(Buffer.from(expected), Buffer.from(signature, 'latin1'));`,
  },
  {
    language: 'Python',
    text: `import hashlib, hmac
expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
holds = hmac.compare_digest(expected.encode(), signature.encode())`,
  },
] as const;
