/** What fields that hold a secret are called. */
import { DETAILS } from './card.ts';
import type { Shape } from './field.ts';
import { CHALLENGE, WEBHOOK_WITH_SECRET } from './resources.ts';

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
