/** What a caller may name a purchase. */
import { containsSecret } from './card-numbers.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;
/** Names that are derived from a plan of many cards and not chosen by a person. */
const RESERVED = 'fleet/';

/** Why a name cannot be used, to follow its flag or column; undefined when it can. */
export function intentFault(name: string): string | undefined {
  if (containsSecret(name)) return 'the name holds what looks like a card number or a key, and would be kept in clear';
  if (!NAME.test(name)) {
    return `${JSON.stringify(name)} is no name: 1 to 128 letters, digits and . _ : / -, a letter or digit first`;
  }
  return name.startsWith(RESERVED)
    ? `${JSON.stringify(name)}: names that begin with ${RESERVED} are reserved`
    : undefined;
}
