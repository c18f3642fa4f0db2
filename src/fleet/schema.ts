/** The form of a fleet file as JSON Schema, for editors: the limits are those of the contract's rows. */
import { LIMITS } from '../contract/limits.ts';
import { cents, plainAmount } from '../core/money.ts';
import { BIN_NEEDS, CARD_STATES, LONGEST_FLEET, LONGEST_NAME, NAME_PATTERN } from './fleet-file.ts';
import { MOST_COUNT } from './read.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A tree of plain JSON values, of JSON Schema draft 2020-12. */
export function fleetSchema(): Schema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'cardwright fleet 1',
    description: 'Which cards a team has. cardwright fleet plan shows how the account differs.',
    type: 'object',
    additionalProperties: false,
    required: ['version', 'fleet', 'caps'],
    properties: {
      version: { const: 1 },
      fleet: nameOf(LONGEST_FLEET, 'In the marker of every card.'),
      caps: CAPS,
      defaults: closed(LAYER),
      templates: named(closed(LAYER), 'Fields that cards share.'),
      cards: { ...named(closed(CARD), 'The cards that are wanted.'), type: ['object', 'null'] },
      moved: { type: 'object', additionalProperties: nameOf(LONGEST_NAME, 'Its new name.') },
      retired: { type: 'object', propertyNames: CARD_ID, additionalProperties: RETIRED },
      quarantine: { type: 'string', pattern: '^[0-9]{1,4}d$', description: 'From 7d on; 30d when left out.' },
    },
  };
}

function closed(properties: Schema, required: readonly string[] = []): Schema {
  return { type: 'object', additionalProperties: false, properties, ...(required.length > 0 && { required }) };
}

function nameOf(maxLength: number, description: string): Schema {
  return { type: 'string', pattern: NAME_PATTERN, maxLength, description };
}

function named(item: Schema, description: string): Schema {
  return {
    type: 'object',
    propertyNames: { pattern: NAME_PATTERN, maxLength: LONGEST_NAME },
    additionalProperties: item,
    description,
  };
}

function usd(description: string, limit: { readonly min?: number; readonly max?: number } = {}): Schema {
  const { min = 0, max } = limit;
  const bounds = max === undefined ? '' : ` ${plainAmount(cents(min))} to ${plainAmount(cents(max))}.`;
  return {
    anyOf: [
      { type: 'number', minimum: min / 100, ...(max !== undefined && { maximum: max / 100 }) },
      { type: 'string', pattern: '^[0-9]{1,13}(\\.[0-9]{1,2})?$' },
    ],
    description: `${description} USD.${bounds}`,
  };
}

const TEXT = { type: 'string' } as const;
const CARD_ID = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,128}$' } as const;

const CAPS = closed(
  {
    per_apply: usd('Most that one apply takes from the wallet.'),
    cards: { type: 'integer', minimum: 0, description: 'Most cards that are not terminated.' },
    wallet_reserve: usd('Stays in the wallet.'),
  },
  ['per_apply', 'cards'],
);

const BIN = {
  description: 'auto, an id, or what the BIN must have.',
  anyOf: [
    TEXT,
    closed({
      need: { type: 'array', items: { enum: BIN_NEEDS } },
      for: TEXT,
      min_transaction: usd('Least single transaction.'),
    }),
  ],
};

const LAYER = {
  amount: usd('What a new card holds.', LIMITS.fundingAmount),
  bin: BIN,
  label: { ...TEXT, maxLength: LIMITS.labelLength.max, description: '{name} and {n} are filled in.' },
  limit: usd('Spending limit of a month.', { min: LIMITS.monthlySpending.min }),
  categories: { type: 'array', items: TEXT, description: 'MCC categories; an empty list allows all.' },
  auto_freeze_at: { anyOf: [usd('The card freezes below it.'), { type: 'null' }] },
  owner: TEXT,
  team: TEXT,
  metadata: {
    type: 'object',
    propertyNames: { maxLength: LIMITS.metadataKeyLength.max },
    additionalProperties: { ...TEXT, maxLength: LIMITS.metadataValueLength.max },
    maxProperties: LIMITS.metadataKeys.max - 1,
  },
  state: { enum: CARD_STATES },
  floor: usd('Below it the card is topped up.'),
  top_up_to: usd('The balance it is brought to.'),
  monthly_cap: usd('Most it may spend and hold in a month.'),
} as const;

const REPLACED = { anyOf: [CARD_ID, closed({ card: CARD_ID, overlap: { type: 'boolean' } }, ['card'])] };

const CARD = {
  template: TEXT,
  card: { ...CARD_ID, description: 'A card that was made elsewhere.' },
  replace: { anyOf: [...REPLACED.anyOf, { type: 'array', items: REPLACED }] },
  count: { type: 'integer', minimum: 1, maximum: MOST_COUNT },
  names: { type: 'array', items: nameOf(LONGEST_NAME, 'One card each.') },
  ...LAYER,
} as const;

const RETIRED = closed(
  {
    since: { type: 'string', pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' },
    reason: TEXT,
    drain: { type: 'boolean', description: 'The balance goes back before the quarantine is over.' },
  },
  ['since'],
);
