/** The last step before something leaves: secrets are unwrapped and take the name they travel under. */
import type { Shape } from '../contract/field.ts';
import { Secret } from '../secret.ts';

/** An object as it is sent; only fields that the shape seals are exposed. */
export function wireObject(shape: Shape, value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const sent: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    sent[field?.wire ?? name] = field?.kind === 'sealed' && part instanceof Secret ? part.expose() : part;
  }
  return sent;
}
