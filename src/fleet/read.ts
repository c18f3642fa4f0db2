/** A fleet file from its YAML tree, its cards written out one by one: every fault at once, each with its place. */

import { LIMITS } from '../contract/limits.ts';
import type { CliError } from '../core/errors.ts';
import { cents, plainAmount } from '../core/money.ts';
import {
  faultyFile,
  type YamlEntry,
  type YamlFault,
  type YamlNode,
  type YamlPosition,
  type YamlText,
} from '../terminal/yaml-tree.ts';
import {
  type Caps,
  type Fleet,
  isName,
  LAYER_FIELDS,
  type Layer,
  LONGEST_FLEET,
  LONGEST_NAME,
  mergedLayer,
  Reading,
  type Replaced,
  type Retired,
  readLayer,
  secretsIn,
  shown,
  type Wish,
} from './fleet-file.ts';

export const MOST_COUNT = 1_000;
const MOST_CARDS = 100_000;
const USUAL_QUARANTINE = 30;
const [LEAST_DAYS, MOST_DAYS] = [7, 3_650];

const TOP_FIELDS = [
  'version',
  'fleet',
  'caps',
  'defaults',
  'templates',
  'cards',
  'moved',
  'retired',
  'quarantine',
] as const;
const CAP_FIELDS = ['per_apply', 'cards', 'wallet_reserve'] as const;
const CARD_FIELDS = ['template', 'card', 'replace', 'count', 'names', ...LAYER_FIELDS] as const;
const RETIRED_FIELDS = ['since', 'reason', 'drain'] as const;
const CARD_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** What reading a file needs besides its tree. */
interface Source {
  /** What the user called it. */
  readonly file: string;
  readonly text: string;
  /** ms UTC: a card is not retired from a day on that lies ahead. Left out where the account is asked, which has a clock. */
  readonly now?: number | undefined;
}

/** Throws `usage` with every fault of the file. Nothing was sent. */
export function readFleet({ faults, root }: YamlText, source: Source): Fleet {
  const reading = new Reading([...faults, ...secretsIn(source.text)]);
  const fleet = root === undefined ? undefined : fleetOf(reading, root, source.now);
  if (fleet !== undefined && reading.faults.length === 0) return fleet;
  if (reading.faults.length === 0) reading.fault({ line: 1, column: 1 }, 'the file is empty');
  throw faultyFile(onePerPlace(reading), { file: source.file, hint: 'cardwright fleet validate --help' });
}

/** A card number under a key that speaks of one is one fault, and so is a field that several cards have from one place. */
function onePerPlace({ faults }: Pick<Reading, 'faults'>) {
  const seen = new Set<string>();
  return faults.filter(({ line, column, text }) => {
    const place = `${line}:${column}:${text}`;
    if (seen.has(place)) return false;
    seen.add(place);
    return true;
  });
}

function fleetOf(reading: Reading, root: YamlNode, now: number | undefined): Fleet | undefined {
  const top = reading.map(root, 'a fleet file', TOP_FIELDS);
  if (top === undefined) return undefined;
  const version = top.get('version');
  if (version === undefined) reading.fault(root, 'version is missing: 1');
  else if (version.node.kind !== 'value' || version.node.written !== '1') reading.fault(version.node, 'version is 1');
  const name = readName(reading, root, top.get('fleet'));
  const caps = readCaps(reading, root, top.get('caps'));
  const entries = readEntries(reading, top);
  const wishes = expandEntries(reading, entries);
  if (wishes.length > MOST_CARDS) reading.fault(root, `${wishes.length} cards, at most ${MOST_CARDS}`);
  const moved = readMoved(reading, top.get('moved'), new Set(wishes.map(wish => wish.name)));
  const retired = readRetired(reading, top.get('retired'), now);
  checkIds(reading, wishes, retired);
  const days = top.get('quarantine');
  const quarantineDays = days === undefined ? USUAL_QUARANTINE : readDays(reading, days.node);
  if (name === undefined || caps === undefined || quarantineDays === undefined) return undefined;
  const defaultFields = new Set(defaultsOf(top.get('defaults')));
  return { name, caps, wishes, entries: entries.length, moved, retired, quarantineDays, defaultFields };
}

function readName(reading: Reading, root: YamlNode, entry: YamlEntry | undefined): string | undefined {
  if (entry === undefined) return reading.fault(root, 'fleet is missing: a name for these cards');
  const name = reading.text(entry.node, 'fleet');
  if (name === undefined || isName(name, LONGEST_FLEET)) return name;
  return reading.fault(entry.node, badName(name, LONGEST_FLEET));
}

function badName(name: string, longest: number): string {
  if (name.length > longest) return `"${shown(name)}" has ${name.length} characters, at most ${longest}`;
  return `"${shown(name)}": lower-case letters, digits, -`;
}

function readCaps(reading: Reading, root: YamlNode, entry: YamlEntry | undefined): Caps | undefined {
  if (entry === undefined) return reading.fault(root, 'caps is missing: per_apply and cards');
  const caps = reading.map(entry.node, 'caps', CAP_FIELDS);
  if (caps === undefined) return undefined;
  const missing = CAP_FIELDS.slice(0, 2).filter(field => !caps.has(field));
  if (missing.length > 0) reading.fault(entry, `caps lacks ${missing.join(' and ')}`);
  const [perApply, cards, reserve] = CAP_FIELDS.map(field => caps.get(field)?.node);
  return {
    perApply: (perApply && reading.amount(perApply, {})) ?? cents(0),
    cards: (cards && reading.count(cards, 'cards', { least: 0, most: MOST_CARDS })) ?? 0,
    walletReserve: (reserve && reading.amount(reserve, {})) ?? cents(0),
  };
}

function readEntries(reading: Reading, top: ReadonlyMap<string, YamlEntry>): readonly Entry[] {
  const defaults = layerAt(reading, top.get('defaults'), 'defaults');
  const templates = new Map<string, Layer>();
  const named = top.get('templates');
  for (const entry of named === undefined ? [] : (reading.map(named.node, 'templates')?.values() ?? [])) {
    if (!isName(entry.name, LONGEST_NAME)) reading.fault(entry, badName(entry.name, LONGEST_NAME));
    templates.set(entry.name, layerAt(reading, entry, 'a template'));
  }
  const cards = top.get('cards');
  // A file may hold no card any more; then its fleet is to be emptied.
  if (cards === undefined || isNothing(cards.node)) return [];
  const entries = reading.map(cards.node, 'cards')?.values() ?? [];
  return [...entries]
    .map(entry => readEntry(reading, entry, { defaults, templates }))
    .filter(entry => entry !== undefined);
}

function defaultsOf(entry: YamlEntry | undefined): readonly string[] {
  return entry?.node.kind === 'map' ? entry.node.entries.map(({ name }) => name) : [];
}

function isNothing(node: YamlNode): boolean {
  return node.kind === 'value' && node.value === null && !node.quoted;
}

function layerAt(reading: Reading, entry: YamlEntry | undefined, what: string): Layer {
  if (entry === undefined || isNothing(entry.node)) return { places: new Map() };
  return readLayer(reading, reading.map(entry.node, what, LAYER_FIELDS)?.values() ?? []);
}

interface Shared {
  readonly defaults: Layer;
  readonly templates: ReadonlyMap<string, Layer>;
}

function readEntry(reading: Reading, entry: YamlEntry, { defaults, templates }: Shared): Entry | undefined {
  const { name, node, line, column } = entry;
  const place: YamlPosition = { line, column };
  // A name that is too long is told when it is written out.
  if (!isName(name.slice(0, LONGEST_NAME), LONGEST_NAME)) reading.fault(entry, badName(name, LONGEST_NAME));
  const fields = isNothing(node) ? new Map<string, YamlEntry>() : reading.map(node, `card ${shown(name)}`, CARD_FIELDS);
  if (fields === undefined) return undefined;
  const template = templateOf(reading, fields.get('template'), templates);
  const layers = [defaults, ...(template === undefined ? [] : [template]), readLayer(reading, fields.values())];
  const pin = idAt(reading, fields.get('card'));
  const several = severalOf(reading, fields);
  const replace = fields.get('replace');
  const replaced = replace === undefined ? [] : readReplaced(reading, replace.node);
  const alone = several.count === undefined && several.names === undefined;
  if (pin !== undefined && !alone) reading.fault(place, 'a card with `card` has no `count` and no `names`');
  if (pin !== undefined && replace !== undefined)
    reading.fault(replace, '`replace` takes the place of `card`; one of the two');
  if (alone && replaced.length > 1) reading.fault(place, 'one card has one `replace`');
  // An adopted card is there; it is never made.
  const isSaid = layers.some(layer => layer.places.has('amount'));
  if (pin === undefined && !isSaid) reading.fault(place, 'amount is missing: what a new card holds, 1.00 to 5000.00');
  return { name, place, layers, pin, replaced, ...several };
}

function templateOf(
  reading: Reading,
  entry: YamlEntry | undefined,
  templates: ReadonlyMap<string, Layer>,
): Layer | undefined {
  if (entry === undefined) return undefined;
  const name = reading.text(entry.node, 'template');
  if (name === undefined || templates.has(name)) return templates.get(name ?? '');
  const known = templates.size === 0 ? 'there is none' : `known: ${[...templates.keys()].join(', ')}`;
  return reading.fault(entry.node, `no template "${shown(name)}"; ${known}`);
}

function idAt(reading: Reading, entry: YamlEntry | undefined): string | undefined {
  if (entry === undefined) return undefined;
  const id = reading.text(entry.node, 'card');
  if (id === undefined || CARD_ID.test(id)) return id;
  return reading.fault(entry.node, `"${shown(id)}" is no id of a card`);
}

function severalOf(reading: Reading, fields: ReadonlyMap<string, YamlEntry>): Pick<Entry, 'count' | 'names'> {
  const [count, names] = [fields.get('count'), fields.get('names')];
  if (count !== undefined && names !== undefined) reading.fault(names, '`count` or `names`, one of the two');
  if (count !== undefined) return { count: reading.count(count.node, 'count', { least: 1, most: MOST_COUNT }) ?? 1 };
  if (names === undefined) return {};
  const words: string[] = [];
  for (const item of reading.list(names.node, 'names')) {
    const word = reading.text(item, 'a name');
    if (word === undefined) continue;
    if (!isName(word, LONGEST_NAME)) reading.fault(item, badName(word, LONGEST_NAME));
    else words.push(word);
  }
  return { names: words };
}

function readReplaced(reading: Reading, node: YamlNode): readonly Replaced[] {
  if (node.kind === 'list') return node.items.flatMap(item => readReplaced(reading, item));
  if (node.kind !== 'map') {
    const card = reading.text(node, 'replace');
    return card === undefined ? [] : [{ card, overlap: false }];
  }
  const fields = reading.map(node, 'replace', ['card', 'overlap']);
  const card = idAt(reading, fields?.get('card'));
  const overlap = fields?.get('overlap');
  if (fields !== undefined && !fields.has('card'))
    reading.fault(node, 'replace lacks card: the id of the present card');
  if (card === undefined) return [];
  return [{ card, overlap: (overlap && reading.yes(overlap.node, 'overlap')) ?? false }];
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

function readRetired(reading: Reading, entry: YamlEntry | undefined, now: number | undefined): readonly Retired[] {
  if (entry === undefined || isNothing(entry.node)) return [];
  const cards = reading.map(entry.node, 'retired') ?? new Map<string, YamlEntry>();
  return [...cards.values()].map(each => readRetiredCard(reading, each, now));
}

function readRetiredCard(
  reading: Reading,
  { name, node, line, column }: YamlEntry,
  now = Number.POSITIVE_INFINITY,
): Retired {
  const place = { line, column };
  if (!CARD_ID.test(name)) reading.fault(place, `"${shown(name)}" is no id of a card`);
  const fields = reading.map(node, `retired ${shown(name)}`, RETIRED_FIELDS);
  const [since, reason, drain] = RETIRED_FIELDS.map(field => fields?.get(field)?.node);
  if (since === undefined && fields !== undefined) reading.fault(node, 'since is missing: the day, such as 2026-11-22');
  return {
    card: name,
    place,
    sincePlace: since ?? place,
    since: (since && readDay(reading, since, now)) ?? '',
    reason: reason && reading.text(reason, 'reason'),
    drain: (drain && reading.yes(drain, 'drain')) ?? false,
  };
}

function readDay(reading: Reading, node: YamlNode, now: number): string | undefined {
  const written = node.kind === 'value' ? node.written : '';
  const at = DATE.test(written) ? Date.parse(`${written}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== written) {
    return reading.fault(node, 'since is a day such as 2026-11-22');
  }
  return at > now ? reading.fault(node, `since ${written} lies ahead`) : written;
}

function readDays(reading: Reading, node: YamlNode): number | undefined {
  const [, days] = (node.kind === 'value' && /^(\d{1,4})d$/.exec(node.written)) || [];
  const count = days === undefined ? Number.NaN : Number(days);
  if (count >= LEAST_DAYS && count <= MOST_DAYS) return count;
  return reading.fault(node, `quarantine is ${LEAST_DAYS}d to ${MOST_DAYS}d, such as 30d`);
}

/** No card by its id in two places. */
function checkIds(reading: Reading, wishes: readonly Wish[], retired: readonly Retired[]): void {
  const pins = new Map<string, Wish>();
  for (const wish of wishes) {
    if (wish.pin === undefined) continue;
    const other = pins.get(wish.pin);
    if (other !== undefined)
      reading.fault(wish.place, `${wish.pin} is also the card of ${other.name}, line ${other.place.line}`);
    pins.set(wish.pin, wish);
  }
  for (const { card, place } of retired) {
    const pinned = pins.get(card);
    if (pinned !== undefined) {
      reading.fault(place, `${card} is also in cards (line ${pinned.place.line}); one of the two`);
    }
  }
}

/** A fault that only the account can tell, at the field it is about. */
export function faultAt(wish: Wish, field: string, text: string) {
  const { line, column } = wish.places.get(field) ?? wish.place;
  return { line, column, text };
}

/** Of faults that only the account can tell. */
export function faultyFleet(faults: readonly YamlFault[], file: string): CliError {
  return faultyFile(onePerPlace({ faults: [...faults] }), { file, hint: 'cardwright fleet validate --help' });
}

// Entries of `cards` written out

/** One entry as it was read. */
interface Entry {
  readonly name: string;
  readonly place: YamlPosition;
  /** From the defaults to the card. */
  readonly layers: readonly Layer[];
  readonly pin?: string | undefined;
  readonly replaced: readonly Replaced[];
  readonly count?: number | undefined;
  readonly names?: readonly string[] | undefined;
}

/** Metadata keys besides the marker. */
const MOST_KEYS = LIMITS.metadataKeys.max - 1;
const DOLLAR = cents(100);
const NO_PLACES: ReadonlyMap<string, YamlPosition> = new Map();

/** Every card that the entries ask for, in their order. */
function expandEntries(reading: Reading, entries: readonly Entry[]): readonly Wish[] {
  const wishes: Wish[] = [];
  const taken = new Map<string, Entry>();
  for (const entry of entries) {
    const layer = mergedLayer(entry.layers);
    checkMerged(reading, entry, layer);
    for (const { name, word, number } of namesOf(entry)) {
      const other = taken.get(name);
      if (other !== undefined) {
        reading.fault(
          entry.place,
          `${name} is also made by \`${other.name}\`${madeBy(other)}, line ${other.place.line}`,
        );
        continue;
      }
      taken.set(name, entry);
      if (name.length > LONGEST_NAME) {
        reading.fault(entry.place, `"${name}" has ${name.length} characters, at most ${LONGEST_NAME}`);
        continue;
      }
      wishes.push(wishOf(reading, { entry, layer, name, word, number }));
    }
  }
  return wishes;
}

interface Named {
  readonly name: string;
  /** `{name}` of a label. */
  readonly word: string;
  /** `{n}` of a label. */
  readonly number: number | undefined;
}

function namesOf({ name, count, names }: Entry): readonly Named[] {
  if (names !== undefined) return names.map(word => ({ name: `${name}-${word}`, word, number: undefined }));
  if (count === undefined) return [{ name, word: name, number: undefined }];
  return Array.from({ length: count }, (_, index) => ({ name: `${name}-${index + 1}`, word: name, number: index + 1 }));
}

function madeBy({ count, names }: Entry): string {
  if (names !== undefined) return ' with names';
  return count === undefined ? '' : ` with count ${count}`;
}

/** What speaks against the fields together, once for all cards of an entry. */
function checkMerged(reading: Reading, { place, pin }: Entry, layer: Layer): void {
  const { amount, floor, topUpTo, autoFreezeAt, monthlyCap } = layer;
  const at = (field: string) => layer.places.get(field) ?? place;
  if (topUpTo !== undefined && floor === undefined) reading.fault(at('top_up_to'), 'top_up_to needs a floor');
  if (floor !== undefined && topUpTo === undefined) reading.fault(at('floor'), 'floor needs top_up_to');
  if (monthlyCap !== undefined && topUpTo === undefined)
    reading.fault(at('monthly_cap'), 'monthly_cap needs top_up_to');
  if (floor !== undefined && topUpTo !== undefined && topUpTo < floor + DOLLAR) {
    const least = plainAmount(cents(floor + DOLLAR));
    reading.fault(at('top_up_to'), `top_up_to ${plainAmount(topUpTo)} must be at least ${least} (floor + 1.00)`);
  }
  if (floor !== undefined && autoFreezeAt !== undefined && autoFreezeAt !== null && floor <= autoFreezeAt) {
    reading.fault(at('floor'), `floor ${plainAmount(floor)} is not above auto_freeze_at ${plainAmount(autoFreezeAt)}`);
  }
  if (floor !== undefined && monthlyCap !== undefined && monthlyCap < floor) {
    const [most, least] = [plainAmount(monthlyCap), plainAmount(floor)];
    reading.fault(
      at('monthly_cap'),
      `monthly_cap ${most} is below floor ${least}, so the card can never be brought to it`,
    );
  }
  const freezeAt = autoFreezeAt ?? undefined;
  if (pin === undefined && amount !== undefined && freezeAt !== undefined && amount < freezeAt) {
    const [holds, low] = [plainAmount(amount), plainAmount(freezeAt)];
    reading.fault(at('amount'), `amount ${holds} is below auto_freeze_at ${low}, so the card would be frozen at once`);
  }
  const keys = Object.keys(metadataOf(layer)).length;
  if (keys > MOST_KEYS) {
    const with_ = layer.owner !== undefined || layer.team !== undefined ? ' with owner and team' : '';
    reading.fault(at('metadata'), `${keys} keys${with_}; ${MOST_KEYS} are free beside the marker (§8)`);
  }
}

function wishOf(
  reading: Reading,
  { entry, layer, name, word, number }: Named & { readonly entry: Entry; readonly layer: Layer },
): Wish {
  const label = labelOf(reading, { entry, layer, name, word, number });
  return {
    name,
    place: entry.place,
    places: layer.places.size === 0 ? NO_PLACES : layer.places,
    pin: entry.pin,
    replaced: entry.replaced,
    isOneOfSeveral: entry.count !== undefined || entry.names !== undefined,
    amount: layer.amount,
    bin: layer.bin ?? { by: 'auto' },
    label,
    limit: layer.limit,
    categories: layer.categories,
    autoFreezeAt: layer.autoFreezeAt,
    metadata: metadataOf(layer),
    state: layer.state ?? 'active',
    floor: layer.floor,
    topUpTo: layer.topUpTo,
    monthlyCap: layer.monthlyCap,
  };
}

function labelOf(
  reading: Reading,
  { entry, layer, name, word, number }: Named & { readonly entry: Entry; readonly layer: Layer },
): string | undefined {
  const { label } = layer;
  if (label === undefined) return undefined;
  const place = layer.places.get('label') ?? entry.place;
  if (number === undefined && label.includes('{n}')) reading.fault(place, '{n} is the number of a card of `count`');
  const filled = label.replaceAll('{name}', word).replaceAll('{n}', String(number ?? ''));
  if (filled === '') return reading.fault(place, 'an empty label cannot be sent; leave it out');
  const [length, most] = [[...filled].length, LIMITS.labelLength.max];
  if (length > most) {
    const from = filled === label ? '' : `; expanded from ${JSON.stringify(label)} for ${name}`;
    reading.fault(place, `${length} characters, at most ${most} (§4.1)${from}`);
  }
  return filled;
}

function metadataOf({ metadata, owner, team }: Layer): Readonly<Record<string, string>> {
  return { ...metadata, ...(owner !== undefined && { owner }), ...(team !== undefined && { team }) };
}

// Cards under a new name

/** Old names with the name each leads to, chains followed. A circle and a target without card are faults. */
function readMoved(
  reading: Reading,
  entry: YamlEntry | undefined,
  names: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const isNothing = entry === undefined || (entry.node.kind === 'value' && entry.node.value === null);
  const entries = isNothing ? undefined : reading.map(entry.node, 'moved');
  const steps = new Map<string, string>();
  for (const each of entries?.values() ?? []) {
    const to = reading.text(each.node, 'moved');
    if (to !== undefined) steps.set(each.name, to);
  }
  const moved = new Map<string, string>();
  const circles = new Set<string>();
  for (const each of entries?.values() ?? []) {
    if (!steps.has(each.name)) continue;
    if (names.has(each.name)) {
      reading.fault(each, `${each.name} is still in cards; a name leads to one card`);
      continue;
    }
    const chain = chainFrom(each.name, steps);
    const last = chain.at(-1) ?? each.name;
    if (chain.indexOf(last) < chain.length - 1) {
      // Each circle is told once, at the first of its names.
      if (!chain.some(name => circles.has(name))) reading.fault(each, `moved: ${chain.join(' -> ')} goes in a circle`);
      for (const name of chain) circles.add(name);
    } else if (!names.has(last))
      reading.fault(each.node, `moved: ${each.name} leads to ${last}, and ${last} is no card of this file`);
    else moved.set(each.name, last);
  }
  return moved;
}

/** The names on the way; a circle ends where it comes to a name for the second time. */
function chainFrom(name: string, steps: ReadonlyMap<string, string>): readonly string[] {
  const chain = [name];
  for (let next = steps.get(name); next !== undefined; next = steps.get(next)) {
    const seen = chain.includes(next);
    chain.push(next);
    if (seen) break;
  }
  return chain;
}
