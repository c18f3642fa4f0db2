/** Takes secrets out of text that a person or a log will see: debug lines, messages, samples of bodies. */
import { DETAILS } from '../contract/card.ts';
import type { Shape } from '../contract/field.ts';
import { CHALLENGE, WEBHOOK_WITH_SECRET } from '../contract/resources.ts';
import type { Secret } from '../secret.ts';
import { REDACTED, SHORTEST_KNOWN, withoutCardNumbers, withoutKnown, withoutShapes } from '../secret-shapes.ts';

export interface Redactor {
  /** The text without anything that is or looks like a secret. */
  text(text: string): string;
  /** A secret of this process that must never be printed. */
  learn(secret: Secret): void;
}

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

const MEMBER = new RegExp(
  `("(?:${[...SECRET_NAMES].join('|')})"\\s*:\\s*)("(?:[^"\\\\\\n]|\\\\.)*"?|[^\\s,}\\]]+)`,
  'gi',
);

/** Each service has one redactor, so that what one answer revealed is hidden in every later line. */
export function createRedactor(): Redactor {
  const known = new Set<string>();
  return {
    learn(secret) {
      if (secret.expose().length >= SHORTEST_KNOWN) known.add(secret.expose());
    },
    text(text) {
      const clean = withoutShapes(withoutKnown(text, known)).replace(MEMBER, `$1"${REDACTED}"`);
      return withoutCardNumbers(clean);
    },
  };
}
