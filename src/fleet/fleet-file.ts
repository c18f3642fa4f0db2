/** What a fleet file says: names and markers, values read strictly, fields of a card. */

import { CREATE_CARD } from '../contract/card.ts';
import { LIMITS } from '../contract/limits.ts';
import { SECRET_NAMES } from '../contract/resources.ts';
import { withoutCardNumbers } from '../core/card-numbers.ts';
import { amountBehindNoise, type Cents, cents, parseAmount, plainAmount } from '../core/money.ts';
import { nearest } from '../core/nearest.ts';
import type { YamlEntry, YamlFault, YamlNode, YamlPosition } from '../terminal/yaml-tree.ts';

/** Features a card's BIN must have; `BIN_NEEDS` of the contract's BIN. */
export const BIN_NEEDS = ['apple_pay', 'google_pay', '3ds'] as const;
type BinNeed = (typeof BIN_NEEDS)[number];

/** `auto`: picked when the card is planned, and never compared. */
export type BinWish =
  | { readonly by: 'auto' }
  | { readonly by: 'id'; readonly id: string }
  | {
      readonly by: 'criteria';
      readonly needs: readonly BinNeed[];
      readonly purpose?: string | undefined;
      readonly minTransaction?: Cents | undefined;
    };

export const CARD_STATES = ['active', 'frozen'] as const;
type CardState = (typeof CARD_STATES)[number];

/** A card that a new one takes the place of. */
export interface Replaced {
  readonly card: string;
  /** The old one stays active until it is retired. */
  readonly overlap: boolean;
}

/** One card that is wanted. What is undefined is neither sent nor compared. */
export interface Wish {
  /** `event-1`; the name in its marker. */
  readonly name: string;
  /** Of its key in the file. */
  readonly place: YamlPosition;
  /** Where each of its fields stands: in the card, its template or the defaults. */
  readonly places: ReadonlyMap<string, YamlPosition>;
  /** Id of the card, for cards that were made elsewhere. */
  readonly pin?: string | undefined;
  readonly replaced: readonly Replaced[];
  /** Its entry has `count` or `names`. */
  readonly isOneOfSeveral: boolean;
  /** What a new card holds; undefined for an adopted card whose file does not say. */
  readonly amount?: Cents | undefined;
  readonly bin: BinWish;
  readonly label?: string | undefined;
  readonly limit?: Cents | undefined;
  readonly categories?: readonly string[] | undefined;
  readonly autoFreezeAt?: Cents | null | undefined;
  /** With owner and team, without the marker. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly state: CardState;
  readonly floor?: Cents | undefined;
  readonly topUpTo?: Cents | undefined;
  readonly monthlyCap?: Cents | undefined;
}

/** A card that is frozen at once and terminated when its quarantine is over. */
export interface Retired {
  readonly card: string;
  readonly place: YamlPosition;
  readonly sincePlace: YamlPosition;
  /** Day of UTC, `2026-11-22`. */
  readonly since: string;
  readonly reason?: string | undefined;
  /** Its balance goes back to the wallet before the quarantine is over. */
  readonly drain: boolean;
}

export interface Caps {
  /** Most that one apply takes from the wallet. */
  readonly perApply: Cents;
  /** Most cards of the fleet that are not terminated. */
  readonly cards: number;
  /** Stays in the wallet. */
  readonly walletReserve: Cents;
}

export interface Fleet {
  readonly name: string;
  readonly caps: Caps;
  readonly wishes: readonly Wish[];
  /** Keys of `cards`; an entry with `count` or `names` is several cards. */
  readonly entries: number;
  /** Old names and the name each card goes by now, chains followed. */
  readonly moved: ReadonlyMap<string, string>;
  readonly retired: readonly Retired[];
  readonly quarantineDays: number;
  /** Fields that the defaults say. */
  readonly defaultFields: ReadonlySet<string>;
}

// Names of fleets and cards, and the marker by which a card is known to be one of a fleet.

export const LONGEST_FLEET = 24;
export const LONGEST_NAME = 40;
export const NAME_PATTERN = '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$';
const NAME = new RegExp(NAME_PATTERN);

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

// Values of a YAML tree, read strictly.

interface AmountLimits {
  /** Cents. */
  readonly least?: number | undefined;
  readonly most?: number | undefined;
  /** Of the interface, for the words of a fault. */
  readonly section?: string | undefined;
}

/** `number` is a name of a card number in an answer, and an innocent key of somebody's metadata. */
const INNOCENT = new Set(['number']);

export class Reading {
  readonly faults: YamlFault[];

  constructor(faults: readonly YamlFault[]) {
    this.faults = [...faults];
  }

  fault({ line, column }: YamlPosition, text: string): undefined {
    this.faults.push({ line, column, text });
  }

  /** Entries of a map by name; with `known`, any other name is a fault. A name that stands twice is one always. */
  map(node: YamlNode, what: string, known?: readonly string[]): ReadonlyMap<string, YamlEntry> | undefined {
    if (node.kind !== 'map') {
      return this.fault(node, `${what} is a map${known === undefined ? '' : ` of ${known.join(', ')}`}`);
    }
    const entries = new Map<string, YamlEntry>();
    for (const entry of node.entries) {
      const { name } = entry;
      const first = entries.get(name);
      if (first !== undefined) {
        this.fault(entry, `${what === 'cards' ? 'card ' : ''}"${name}" stands twice, first at line ${first.line}`);
      } else if (known?.includes(name) !== true && isSecretName(name)) {
        this.fault(entry, `a key called ${name} speaks of a secret; it must not be in a file`);
      } else if (known !== undefined && !known.includes(name)) {
        this.fault(entry, unknownField(name, known));
      } else entries.set(name, entry);
    }
    return entries;
  }

  /** Items of a list; a fault and none for anything else. */
  list(node: YamlNode, what: string): readonly YamlNode[] {
    if (node.kind === 'list') return node.items;
    this.fault(node, `${what} is a list: [one, two]`);
    return [];
  }

  /** A text. What YAML takes for a number, a truth or nothing is one in quotes alone. */
  text(node: YamlNode, what: string): string | undefined {
    if (node.kind !== 'value') return this.fault(node, `${what} is a text`);
    if (typeof node.value === 'string') {
      return /[\x00-\x1f\x7f-\x9f]/.test(node.value)
        ? this.fault(node, `${what} holds a control character`)
        : node.value;
    }
    if (node.value === null) return this.fault(node, `${what} is empty`);
    const kind = typeof node.value === 'number' ? 'number' : 'truth value';
    return this.fault(node, `${what}: ${node.written} is a ${kind} in YAML; quote it`);
  }

  /** Cents of decimal text, as it is written: the number that YAML makes of it is not looked at. */
  amount(node: YamlNode, { least, most, section }: AmountLimits): Cents | undefined {
    if (node.kind !== 'value' || node.written === '') return this.fault(node, 'an amount in USD such as 25.00');
    const { written } = node;
    const amount = parseAmount(written);
    const end = section === undefined ? '' : ` (§${section})`;
    if (amount === undefined) {
      if (/^\d+\.\d{3,}$/.test(written)) {
        const meant = amountBehindNoise(written);
        return this.fault(
          node,
          `${written} has more than two decimals${meant === undefined ? '' : `; ${plainAmount(meant)}?`}`,
        );
      }
      return this.fault(node, `${shown(written)} is no amount in USD such as 25.00`);
    }
    if (least !== undefined && amount < least) {
      return this.fault(node, `amount ${plainAmount(amount)} is below ${plainAmount(least as Cents)}${end}`);
    }
    if (most !== undefined && amount > most) {
      return this.fault(node, `amount ${plainAmount(amount)} is over ${plainAmount(most as Cents)}${end}`);
    }
    return amount;
  }

  /** A whole number. */
  count(
    node: YamlNode,
    what: string,
    { least, most }: { readonly least: number; readonly most: number },
  ): number | undefined {
    const written = node.kind === 'value' && !node.quoted ? node.written : '';
    const value = /^\d{1,9}$/.test(written) ? Number(written) : Number.NaN;
    if (value >= least && value <= most) return value;
    return this.fault(node, `${what} is a whole number from ${least} to ${most}`);
  }

  yes(node: YamlNode, what: string): boolean | undefined {
    if (node.kind === 'value' && typeof node.value === 'boolean') return node.value;
    return this.fault(node, `${what} is true or false`);
  }
}

export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll('-', '_');
  return SECRET_NAMES.has(plain) && !INNOCENT.has(plain);
}

/** `spending_limit` is what the interface calls the limit, and no edit away from it. */
const OTHERWISE_CALLED: Readonly<Record<string, string>> = {
  spending_limit: 'limit',
  allowed_categories: 'categories',
  bin_id: 'bin',
  status: 'state',
};

function unknownField(name: string, known: readonly string[]): string {
  const meant = OTHERWISE_CALLED[name];
  const near = meant !== undefined && known.includes(meant) ? meant : nearest(name, known);
  const end = near === undefined ? `; known: ${known.join(', ')}` : `; did you mean \`${near}\`?`;
  return `\`${shown(name)}\` is not known here${end}`;
}

const LONGEST_SHOWN = 60;

/** A text of the file in a message; a long one is cut. */
export function shown(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

// Fields of a card as one part of a file says them

const { min: LEAST, max: MOST } = LIMITS.fundingAmount;
const FUNDING = { least: LEAST, most: MOST, section: '4.1' };
const POSITIVE = { least: 1, section: '4.1' };

/** Undefined members were not said. */
export interface Layer {
  readonly places: Map<string, YamlPosition>;
  amount?: Cents | undefined;
  bin?: BinWish | undefined;
  label?: string | undefined;
  limit?: Cents | undefined;
  categories?: readonly string[] | undefined;
  autoFreezeAt?: Cents | null | undefined;
  owner?: string | undefined;
  team?: string | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  state?: CardState | undefined;
  floor?: Cents | undefined;
  topUpTo?: Cents | undefined;
  monthlyCap?: Cents | undefined;
}

type ReadField = (reading: Reading, node: YamlNode) => Omit<Layer, 'places'>;

/** The fields that defaults, templates and cards take alike. */
const READ: Readonly<Record<string, ReadField>> = {
  amount: (reading, node) => ({ amount: reading.amount(node, FUNDING) }),
  bin: (reading, node) => ({ bin: readBin(reading, node) }),
  label: (reading, node) => ({ label: reading.text(node, 'label') }),
  limit: (reading, node) => ({ limit: reading.amount(node, POSITIVE) }),
  categories: (reading, node) => ({ categories: readCategories(reading, node) }),
  auto_freeze_at: (reading, node) => {
    if (node.kind === 'value' && node.value === null && !node.quoted) return { autoFreezeAt: null };
    return { autoFreezeAt: reading.amount(node, { least: CREATE_CARD.auto_freeze_at.min ?? 0, section: '4.1' }) };
  },
  owner: (reading, node) => ({ owner: readValue(reading, node, 'owner') }),
  team: (reading, node) => ({ team: readValue(reading, node, 'team') }),
  metadata: (reading, node) => ({ metadata: readMetadata(reading, node) }),
  state: (reading, node) => {
    const state = CARD_STATES.find(each => node.kind === 'value' && node.value === each);
    if (state === undefined) reading.fault(node, `state is ${CARD_STATES.join(' or ')}`);
    return { state };
  },
  floor: (reading, node) => ({ floor: reading.amount(node, POSITIVE) }),
  top_up_to: (reading, node) => ({ topUpTo: reading.amount(node, POSITIVE) }),
  monthly_cap: (reading, node) => ({ monthlyCap: reading.amount(node, POSITIVE) }),
};

export const LAYER_FIELDS: readonly string[] = Object.keys(READ);

/** Takes the fields of a layer from the entries of a map; others are left to the caller. */
export function readLayer(reading: Reading, entries: Iterable<YamlEntry>): Layer {
  const layer: Layer = { places: new Map() };
  for (const { name, node } of entries) {
    if (!Object.hasOwn(READ, name)) continue;
    Object.assign(layer, READ[name]?.(reading, node));
    layer.places.set(name, node);
  }
  return layer;
}

/** The later layer wins; metadata is merged by key. */
export function mergedLayer(layers: readonly Layer[]): Layer {
  const merged: Layer = { places: new Map() };
  for (const { places, metadata, ...rest } of layers) {
    for (const [name, place] of places) merged.places.set(name, place);
    for (const [name, value] of Object.entries(rest)) {
      if (value !== undefined) (merged as unknown as Record<string, unknown>)[name] = value;
    }
    if (metadata !== undefined) merged.metadata = { ...merged.metadata, ...metadata };
  }
  return merged;
}

function readBin(reading: Reading, node: YamlNode): BinWish | undefined {
  if (node.kind !== 'map') {
    const id = reading.text(node, 'bin');
    if (id === undefined) return undefined;
    return id === 'auto' ? { by: 'auto' } : { by: 'id', id };
  }
  const entries = reading.map(node, 'bin', ['need', 'for', 'min_transaction']);
  const need = entries?.get('need');
  const needs = need === undefined ? [] : reading.list(need.node, 'need').map(each => readNeed(reading, each));
  const purpose = entries?.get('for');
  const least = entries?.get('min_transaction');
  return {
    by: 'criteria',
    needs: needs.filter(each => each !== undefined),
    purpose: purpose && reading.text(purpose.node, 'for'),
    minTransaction: least && reading.amount(least.node, POSITIVE),
  };
}

function readNeed(reading: Reading, node: YamlNode): BinNeed | undefined {
  const need = BIN_NEEDS.find(each => node.kind === 'value' && node.written === each);
  if (need === undefined) reading.fault(node, `need takes ${BIN_NEEDS.join(', ')}`);
  return need;
}

function readCategories(reading: Reading, node: YamlNode): readonly string[] | undefined {
  if (node.kind !== 'list') {
    reading.fault(node, 'categories is a list: [advertising, "7311"]');
    return undefined;
  }
  return node.items.map(each => reading.text(each, 'a category')).filter(each => each !== undefined);
}

function readMetadata(reading: Reading, node: YamlNode): Readonly<Record<string, string>> | undefined {
  const entries = reading.map(node, 'metadata');
  if (entries === undefined) return undefined;
  const metadata: [string, string][] = [];
  for (const [name, entry] of entries) {
    const longest = LIMITS.metadataKeyLength.max;
    if ([...name].length > longest) reading.fault(entry, `a metadata key has at most ${longest} characters (§8)`);
    if (name === 'cardwright') reading.fault(entry, 'cardwright is the marker of the fleet; another key, please');
    const value = readValue(reading, entry.node, `metadata ${name}`);
    if (value !== undefined) metadata.push([name, value]);
  }
  return Object.fromEntries(metadata);
}

/** A text that goes into metadata. */
function readValue(reading: Reading, node: YamlNode, what: string): string | undefined {
  const value = reading.text(node, what);
  const longest = LIMITS.metadataValueLength.max;
  if (value !== undefined && [...value].length > longest) {
    reading.fault(node, `${what} has ${[...value].length} characters, at most ${longest} (§8)`);
  }
  return value;
}

/** The largest amount of one request; what is due above it follows with the next apply. */
export const MOST_AT_ONCE = cents(MOST);
/** The smallest. */
export const LEAST_AT_ONCE = cents(LEAST);
