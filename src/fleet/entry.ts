/** A card as a line of a fleet file, and what a new file says. */
import { type Cents, plainAmount } from '../core/money.ts';
import { NO_KEYS } from '../terminal/yaml-file.ts';

/** What is written of one card. */
export interface NewEntry {
  readonly name: string;
  /** Undefined for a card that its marker tells. */
  readonly card: string | undefined;
  readonly amount?: Cents | undefined;
  readonly label?: string | undefined;
  readonly limit?: Cents | undefined;
  readonly categories?: readonly string[] | undefined;
  readonly autoFreezeAt?: Cents | null | undefined;
  readonly owner?: string | undefined;
  readonly team?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly state?: 'active' | 'frozen' | undefined;
}

/** `  search: {card: card_1, label: "ads", limit: 500.00}`, as it stands under `cards:`. */
export function entryText(entry: NewEntry): string {
  const { name, card, amount, label, limit, categories, autoFreezeAt, owner, team, metadata = {}, state } = entry;
  const pairs = Object.entries(metadata).map(([key, value]) => `${plainOrQuoted(key)}: ${quoted(value)}`);
  const fields = [
    ...(card === undefined ? [] : [`card: ${plainOrQuoted(card)}`]),
    ...(amount === undefined ? [] : [`amount: ${plainAmount(amount)}`]),
    ...(label === undefined ? [] : [`label: ${quoted(label)}`]),
    ...(limit === undefined ? [] : [`limit: ${plainAmount(limit)}`]),
    ...(categories === undefined ? [] : [`categories: [${categories.map(quoted).join(', ')}]`]),
    ...(autoFreezeAt === undefined
      ? []
      : [`auto_freeze_at: ${autoFreezeAt === null ? 'null' : plainAmount(autoFreezeAt)}`]),
    ...(owner === undefined ? [] : [`owner: ${quoted(owner)}`]),
    ...(team === undefined ? [] : [`team: ${quoted(team)}`]),
    ...(pairs.length === 0 ? [] : [`metadata: {${pairs.join(', ')}}`]),
    ...(state === undefined ? [] : [`state: ${state}`]),
  ];
  return `  ${plainOrQuoted(name)}: {${fields.join(', ')}}`;
}

const WORDS_OF_YAML = new Set(['true', 'false', 'null']);

/** YAML takes `2` and `1e3` for numbers, and some words for truths; all others that begin with a letter are text. */
function plainOrQuoted(text: string): string {
  return /^[a-z]/i.test(text) && !WORDS_OF_YAML.has(text.toLowerCase()) ? text : quoted(text);
}

/** A JSON string is one of YAML; braces of a label would be filled in, and stand for nothing here. */
function quoted(text: string): string {
  return JSON.stringify(text);
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
