/** Takes secrets out of text that a person or a log will see: debug lines, messages, samples of bodies. */

import type { Operation } from '../contract/operation.ts';
import { SECRET_NAMES } from '../contract/resources.ts';
import { withoutCardNumbers } from '../core/card-numbers.ts';
import { asRead, REDACTED, SECRET_KIND, SHORTEST_SECRET, withoutPatterns } from '../core/redaction.ts';
import { Secret } from '../core/secret.ts';

/** The code of a card in a sentence of the service. */
const CODE_IN_WORDS =
  /\b((?:cvv|cvc|csc|cid)2?|(?:card )?(?:security|verification) (?:code|value))(\W{1,3}|(?: was| is|:)? )\d{3,4}(?![\w.])/gi;

/** A shorter rest of a key may be a word of its own. */
const SHORTEST_ALONE = 16;

export type Redactor = ReturnType<typeof createRedactor>;

const MEMBER = new RegExp(
  `("(?:${[...SECRET_NAMES].join('|')})"\\s*:\\s*)("(?:[^"\\\\\\n]|\\\\.)*"?|[^\\s,}\\]]+)`,
  'gi',
);

/** Each service has one redactor, so that what one answer revealed is hidden in every later line. */
export function createRedactor() {
  const known = new Map<string, RegExp>();
  return {
    /** A secret of this process that must never be printed. */
    learn(secret: Secret): void {
      const text = secret.expose();
      // A host name, and who quotes one, may be in small letters.
      if (text.length < SHORTEST_SECRET || known.has(text)) return;
      // What follows the name of its kind is the secret, and may be repeated without it.
      const [kind = ''] = SECRET_KIND.exec(text) ?? [];
      const rest = text.slice(kind.length);
      const pattern = rest.length < SHORTEST_ALONE ? literal(text) : `(?:${literal(kind)})?${literal(rest)}`;
      known.set(text, new RegExp(pattern, 'gi'));
    },
    /** The text without anything that is or looks like a secret. */
    text(text: string): string {
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

// Secrets of requests and answers, taught to the redactor.

type Values = Readonly<Record<string, unknown>>;

/** Secrets that were sent or received must not come back in a message or a debug line. */
export function learnSecrets(redactor: Redactor, row: Operation, values: unknown): void {
  const shapes = [row.body ?? {}, row.returns.shape];
  const secret = shapes.flatMap(shape => Object.keys(shape).filter(name => shape[name]?.secret));
  if (secret.length === 0 || typeof values !== 'object' || values === null) return;
  const rows = 'data' in values && Array.isArray(values.data) ? (values.data as Values[]) : [values as Values];
  for (const value of rows.flatMap(each => secret.map(name => each[name]))) {
    if (value instanceof Secret) redactor.learn(value);
    else if (typeof value === 'string') redactor.learn(new Secret(value));
  }
}
