/** Takes secrets out of text that a person or a log will see: debug lines, messages, samples of bodies. */
import { SECRET_NAMES } from '../contract/secret-names.ts';
import type { Secret } from '../secret.ts';
import { REDACTED, SHORTEST_KNOWN, withoutCardNumbers, withoutKnown, withoutShapes } from '../secret-shapes.ts';

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
