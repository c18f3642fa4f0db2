/** What a fleet file may say: its schema, names and markers, and what must not stand in it. */

import { LIMITS } from '../contract/limits.ts';
import { SECRET_NAMES } from '../contract/resources.ts';
import { withoutCardNumbers } from '../core/card-numbers.ts';
import { type Cents, cents } from '../core/money.ts';
import {
  byName,
  choiceOf,
  listOf,
  members,
  readAs,
  TEXT,
  usd,
  VERSION,
  v,
  wholeNumber,
  type YamlFault,
  type YamlTree,
  yes,
} from '../terminal/yaml-file.ts';

// Names of fleets and cards, and the marker by which a card is known to be one of a fleet.

export const LONGEST_FLEET = 24;
export const LONGEST_NAME = 40;
const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** Whether a text may name a fleet or a card. */
export function isName(text: string, longest: number): boolean {
  return text.length <= longest && NAME.test(text);
}

/** Which card of which fleet a card was made as. */
export interface Mark {
  readonly fleet: string;
  readonly name: string;
  /** From 1; one more for each card that took the place of the one before. */
  readonly generation: number;
}

/** Value of the metadata key that the journal marks cards with: `fleet/ads/search#1`. */
export function markText({ fleet, name, generation }: Mark): string {
  return `fleet/${fleet}/${name}#${generation}`;
}

/** What every marker of a fleet begins with. */
export function markPrefix(fleet: string): string {
  return `fleet/${fleet}/`;
}

const MARK = /^fleet\/([a-z0-9-]{1,24})\/([a-z0-9-]{1,40})#([1-9][0-9]{0,8})$/;

/** Undefined for any other text, such as the marker of an operation. */
export function markOf(text: string | undefined): Mark | undefined {
  const [, fleet, name, generation] = (text === undefined ? null : MARK.exec(text)) ?? [];
  if (fleet === undefined || name === undefined) return undefined;
  return { fleet, name, generation: Number(generation) };
}

// Secrets that stand in a file by mistake.

const KEYS = /(?<![A-Za-z0-9])(?:sk_(?:live|test)_|whsec_)[A-Za-z0-9]*/g;
/** An id of the service: its digits are no number. */
const IDS = /(?<![A-Za-z0-9_])[a-z]{2,12}_[0-9a-z]+(?![A-Za-z0-9_])/g;
const DIGIT = /[0-9]/;

/** Everything in the text, comments too, that looks like an API key, a webhook secret or a card number. */
export function secretsIn(text: string): readonly YamlFault[] {
  const faults: YamlFault[] = [];
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    const at = (column: number, what: string) => faults.push({ line: index + 1, column: column + 1, text: what });
    for (const found of line.matchAll(KEYS)) {
      at(found.index, 'this looks like an API key or a webhook secret; it must not be in a file');
    }
    const bare = line.replace(KEYS, blank).replace(IDS, blank);
    const masked = withoutCardNumbers(bare);
    if (masked !== bare) at(firstMasked(bare, masked), 'this looks like a card number; it must not be in a file');
  }
  return faults;
}

function blank(text: string): string {
  return ' '.repeat(text.length);
}

/** Where the masked text begins to be another one. */
function firstMasked(before: string, after: string): number {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  while (at < before.length && !DIGIT.test(before[at] ?? '')) at += 1;
  return at;
}

/** `number` is a name of a card number in an answer, and an innocent key of somebody's metadata. */
const INNOCENT = new Set(['number']);

export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll('-', '_');
  return SECRET_NAMES.has(plain) && !INNOCENT.has(plain);
}

// The schema. The JSON Schema for editors is made of it; `inJson` says what a part is there.

const inJson = <Schema extends v.GenericSchema>(schema: Schema, json: object): Schema =>
  v.pipe(schema, v.metadata({ json })) as never;

const codePoints = (most: number) =>
  v.check<string, string>(text => [...text].length <= most, `has more than ${most} characters`);

const { min: LEAST, max: MOST } = LIMITS.fundingAmount;
/** The largest amount of one request; what is due above it follows with the next apply. */
export const MOST_AT_ONCE = cents(MOST);
/** The smallest. */
export const LEAST_AT_ONCE = cents(LEAST);
export const MOST_CARDS = 100_000;
const MOST_COUNT = 1_000;
const [LEAST_DAYS, MOST_DAYS] = [7, 3_650];

/** Features a card's BIN must have; `BIN_NEEDS` of the contract's BIN. */
export const BIN_NEEDS = ['apple_pay', 'google_pay', '3ds'] as const;

const nameOf = (longest: number) =>
  v.pipe(
    TEXT,
    v.regex(NAME, 'a name has lower-case letters, digits and -'),
    v.maxLength(longest, `a name has at most ${longest} characters`),
  );
const CARD_NAME = nameOf(LONGEST_NAME);
const CARD_ID = v.pipe(TEXT, v.regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be the id of a card'));
const LONGEST_VALUE = LIMITS.metadataValueLength.max;
const VALUE = inJson(v.pipe(TEXT, codePoints(LONGEST_VALUE)), { type: 'string', maxLength: LONGEST_VALUE });
const METADATA_KEY = v.pipe(
  TEXT,
  codePoints(LIMITS.metadataKeyLength.max),
  v.check(key => !isSecretName(key), 'such a key speaks of a secret; it must not be in a file'),
  v.check(key => key !== 'cardwright', 'this is the marker of the fleet; another key, please'),
);

/** What defaults, templates and cards take alike. */
const LAYER = {
  amount: v.optional(usd('What a new card holds.', LIMITS.fundingAmount)),
  bin: v.optional(
    v.pipe(
      v.union(
        [
          TEXT,
          members({
            need: v.optional(listOf(choiceOf(BIN_NEEDS))),
            for: v.optional(TEXT),
            min_transaction: v.optional(usd('Least single transaction.', { min: 1 })),
          }),
        ],
        'must be auto, the id of a BIN, or a map of need, for, min_transaction',
      ),
      v.description('auto, an id, or what the BIN must have.'),
    ),
  ),
  // Its length is judged once {name} and {n} are filled in.
  label: v.optional(
    inJson(v.pipe(TEXT, v.nonEmpty('an empty label cannot be sent; leave it out')), {
      type: 'string',
      maxLength: LIMITS.labelLength.max,
      description: '{name} and {n} are filled in.',
    }),
  ),
  limit: v.optional(usd('Spending limit of a month.', LIMITS.monthlySpending)),
  categories: v.optional(v.pipe(listOf(TEXT), v.description('MCC categories; an empty list allows all.'))),
  auto_freeze_at: v.optional(v.nullable(usd('The card freezes below it.', LIMITS.autoFreezeAt))),
  owner: v.optional(VALUE),
  team: v.optional(VALUE),
  metadata: v.optional(byName(METADATA_KEY, VALUE)),
  state: v.optional(choiceOf(['active', 'frozen'])),
  floor: v.optional(usd('Below it the card is topped up.', { min: 1 })),
  top_up_to: v.optional(usd('The balance it is brought to.', { min: 1 })),
  monthly_cap: v.optional(usd('Most it may spend and hold in a month.', { min: 1 })),
};

const LAYER_OR_NOTHING = v.nullable(members(LAYER));

/** A card that a new one takes the place of. */
const REPLACED = v.union(
  [CARD_ID, members({ card: CARD_ID, overlap: v.optional(yes('The old one stays active until it is retired.')) })],
  'must be the id of the present card, or a map of card and overlap',
);

const CARD = members({
  template: v.optional(TEXT),
  card: v.optional(v.pipe(CARD_ID, v.description('A card that was made elsewhere.'))),
  replace: v.optional(
    v.union([REPLACED, listOf(REPLACED)], 'must be the id of the present card, or a map of card and overlap'),
  ),
  count: v.optional(wholeNumber(1, MOST_COUNT, 'So many cards, numbered from 1.')),
  names: v.optional(v.pipe(listOf(CARD_NAME), v.description('One card each.'))),
  ...LAYER,
});

function dayOf(written: string): string | undefined {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(written) ? Date.parse(`${written}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== written ? undefined : written;
}

/** A card that is frozen at once and terminated when its quarantine is over. */
const RETIRED = members({
  since: readAs(dayOf, 'must be a day such as 2026-11-22', { type: 'string', pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
  reason: v.optional(TEXT),
  drain: v.optional(yes('The balance goes back before the quarantine is over.')),
});

function daysOf(written: string): number | undefined {
  const days = Number(/^(\d{1,4})d$/.exec(written)?.[1]);
  return days >= LEAST_DAYS && days <= MOST_DAYS ? days : undefined;
}

export const FLEET_FILE = members({
  version: VERSION,
  fleet: v.pipe(nameOf(LONGEST_FLEET), v.description('In the marker of every card.')),
  caps: members({
    per_apply: usd('Most that one apply takes from the wallet.'),
    cards: wholeNumber(0, MOST_CARDS, 'Most cards that are not terminated.'),
    wallet_reserve: v.optional(usd('Stays in the wallet.')),
  }),
  defaults: v.optional(LAYER_OR_NOTHING),
  templates: v.optional(v.pipe(byName(CARD_NAME, LAYER_OR_NOTHING), v.description('Fields that cards share.'))),
  cards: v.optional(
    v.pipe(v.nullable(byName(CARD_NAME, v.nullable(CARD))), v.description('The cards that are wanted.')),
  ),
  moved: v.optional(v.nullable(byName(TEXT, v.pipe(CARD_NAME, v.description('Its new name.'))))),
  retired: v.optional(v.nullable(byName(CARD_ID, RETIRED))),
  quarantine: v.optional(
    readAs(daysOf, `must be ${LEAST_DAYS}d to ${MOST_DAYS}d, such as 30d`, {
      type: 'string',
      pattern: '^[0-9]{1,4}d$',
      description: 'From 7d on; 30d when left out.',
    }),
  ),
});

export type FleetFile = v.InferOutput<typeof FLEET_FILE>;
export type Layer = NonNullable<v.InferOutput<typeof LAYER_OR_NOTHING>>;
export type Entry = v.InferOutput<typeof CARD>;
export type Replaced = Exclude<v.InferOutput<typeof REPLACED>, string>;

// What it comes to

/** `auto`: picked when the card is planned, and never compared. */
export type BinWish =
  | { readonly by: 'auto' }
  | { readonly by: 'id'; readonly id: string }
  | ({ readonly by: 'criteria' } & Exclude<NonNullable<Layer['bin']>, string>);

/** One card that is wanted. What is undefined is neither sent nor compared; of an adopted card that is its amount, too. */
export interface Wish extends Omit<Layer, 'bin' | 'owner' | 'team'> {
  /** `event-1`; the name in its marker. */
  readonly name: string;
  /** Its key in the file, and the template it names. */
  readonly entry: string;
  readonly template: string | undefined;
  /** Id of the card, for cards that were made elsewhere. */
  readonly pin: string | undefined;
  readonly replaced: readonly Replaced[];
  /** Its entry has `count` or `names`. */
  readonly isOneOfSeveral: boolean;
  readonly bin: BinWish;
  /** With owner and team, without the marker. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly state: 'active' | 'frozen';
}

export interface Retired extends v.InferOutput<typeof RETIRED> {
  readonly card: string;
}

export interface Fleet {
  readonly name: string;
  readonly caps: FleetFile['caps'] & { readonly wallet_reserve: Cents };
  readonly wishes: readonly Wish[];
  /** Keys of `cards`; an entry with `count` or `names` is several cards. */
  readonly entries: number;
  /** Old names and the name each card goes by now. */
  readonly moved: ReadonlyMap<string, string>;
  readonly retired: readonly Retired[];
  readonly quarantineDays: number;
  /** Fields that the defaults say. */
  readonly defaultFields: ReadonlySet<string>;
  /** The file, for the places of faults. */
  readonly root: YamlTree;
}
