/** A card as a line of a fleet file, and what a new file says. */
import { cents, plainAmount } from '../core/money.ts';
import { isObject } from '../core/objects.ts';
import { NO_KEYS } from '../terminal/yaml-file.ts';
import type { Entry } from './fleet-file.ts';

/** `  search: {card: card_1, label: ads, limit: 500.00}`, as it stands under `cards:`. */
export function entryText(name: string, fields: Entry): string {
  return `  ${written(name)}: ${written(fields)}`;
}

const WORDS_OF_YAML = new Set(['true', 'false', 'null']);

/** A value of a file as YAML. Its numbers are amounts, in cents. */
function written(value: unknown): string {
  if (typeof value === 'number') return plainAmount(cents(value));
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (isObject(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([key, member]) => `${written(key)}: ${written(member)}`).join(', ')}}`;
  }
  // YAML takes `2` and `1e3` for numbers, and some words for truths; a JSON string is one of YAML.
  const isPlain = typeof value === 'string' && /^[a-z][a-z0-9_-]*$/i.test(value);
  return isPlain && !WORDS_OF_YAML.has(value.toLowerCase()) ? value : JSON.stringify(value);
}

/** A name for a card by its label: `ads: search` is `ads-search`; never one of those taken, or one that can be no key. */
export function nameFor(label: string, last4: string, taken: ReadonlySet<string>): string {
  const plain = label
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 36)
    .replace(/-+$/, '');
  const base = plain === '' ? `card-${last4.replace(/\D/g, '') || 'new'}` : plain;
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? base : `${base}-${count}`;
    if (!taken.has(name) && !NO_KEYS.has(name)) return name;
  }
}

/** Room of the cap of a new file, and the step in which it grows with the cards that are adopted. */
const ROOM = 100;

/** A new file for so many cards: nothing is spent until a person raises `per_apply`, and the cap of cards has room for one. */
export function starterText(fleet: string, adopted = 0): string {
  const most = String((Math.floor(adopted / ROOM) + 1) * ROOM);
  return `# Which cards ${fleet} has. cardwright fleet plan shows how the account differs, cardwright fleet apply changes it.
# The form: cardwright fleet validate --schema
version: 1
fleet: ${fleet}
caps:
  per_apply: 0.00        # most that one apply takes from the wallet; raise it when cards are to be made
  cards: ${most.padEnd(15)} # most cards of this fleet
defaults: {bin: auto, amount: 25.00}
# templates:
#   ads: {limit: 500.00, categories: [advertising], auto_freeze_at: 5.00}
cards:
`;
}
