/** Takes secrets out of text that a person or a log will see: debug lines, messages, samples of bodies. */

import { SECRET_NAMES } from '../contract/secret-names.ts';
import { withoutCardNumbers } from '../core/card-numbers.ts';
import { asRead, REDACTED, SHORTEST_SECRET, withoutPatterns } from '../core/redaction.ts';
import type { Secret } from '../core/secret.ts';

/** The code of a card in a sentence of the service. */
const CODE_IN_WORDS =
  /\b((?:cvv|cvc|csc|cid)2?|(?:card )?(?:security|verification) (?:code|value))(\W{1,3}|(?: was| is|:)? )\d{3,4}(?![\w.])/gi;

export interface Redactor {
  /** The text without anything that is or looks like a secret. */
  text(text: string): string;
  /** A secret of this process that must never be printed. */
  learn(secret: Secret): void;
}

const MEMBER = new RegExp(
  `("(?:${[...SECRET_NAMES].join('|')})"\\s*:\\s*)("(?:[^"\\\\\\n]|\\\\.)*"?|[^\\s,}\\]]+)`,
  'gi',
);

/** Each service has one redactor, so that what one answer revealed is hidden in every later line. */
export function createRedactor(): Redactor {
  const known = new Map<string, RegExp>();
  return {
    learn(secret) {
      const text = secret.expose();
      // A host name, and who quotes one, may be in small letters.
      if (text.length >= SHORTEST_SECRET && !known.has(text)) known.set(text, new RegExp(literal(text), 'gi'));
    },
    text(text) {
      const read = asRead(text);
      const clean = [...known.values()].reduce((left, pattern) => left.replace(pattern, REDACTED), read);
      const shapeless = withoutCardNumbers(withoutPatterns(clean).replace(MEMBER, `$1"${REDACTED}"`)).replace(
        CODE_IN_WORDS,
        `$1$2${REDACTED}`,
      );
      return shapeless === read ? text : shapeless;
    },
  };
}

/** A host name has no underscore, so who puts a key into one writes hyphens. */
const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/[_-]/g, '[_-]');
