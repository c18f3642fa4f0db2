/** The last step before something leaves: secrets are unwrapped and take the name they travel under. */
import type { Shape } from '../../contract/field.ts';
import { Secret } from '../../core/secret.ts';

const AS_THEY_ARE = new Map<Shape, boolean>();

/** No field of the shape is sealed or has another name outside. */
function travelsAsItIs(shape: Shape): boolean {
  const known = AS_THEY_ARE.get(shape);
  if (known !== undefined) return known;
  const answer = Object.values(shape).every(({ kind, wire }) => kind !== 'sealed' && wire === undefined);
  AS_THEY_ARE.set(shape, answer);
  return answer;
}

/** An object as it is sent; only fields that the shape seals are exposed. */
export function wireObject(shape: Shape, value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (travelsAsItIs(shape)) return value;
  const sent: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    sent[field?.wire ?? name] = field?.kind === 'sealed' && part instanceof Secret ? part.expose() : part;
  }
  return sent;
}
