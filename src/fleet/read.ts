/** A fleet file from its YAML tree: every fault at once, each with the place where it stands. */
import type { CliError } from '../core/errors.ts';
import { cents } from '../core/money.ts';
import {
  faultyFile,
  type YamlEntry,
  type YamlFault,
  type YamlNode,
  type YamlPosition,
  type YamlText,
} from '../terminal/yaml-tree.ts';
import { type Entry, expandEntries } from './expand.ts';
import type { Caps, Fleet, Replaced, Retired, Wish } from './fleet-file.ts';
import { LAYER_FIELDS, type Layer, readLayer } from './layer.ts';
import { readMoved } from './moved.ts';
import { isName, LONGEST_FLEET, LONGEST_NAME } from './names.ts';
import { Reading, shown } from './reading.ts';
import { secretsIn } from './secrets-in-text.ts';

export const MOST_COUNT = 1_000;
const MOST_CARDS = 100_000;
const USUAL_QUARANTINE = 30;
const [LEAST_DAYS, MOST_DAYS] = [7, 3_650];

export const TOP_FIELDS = [
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
export const CAP_FIELDS = ['per_apply', 'cards', 'wallet_reserve'] as const;
export const CARD_FIELDS = ['template', 'card', 'replace', 'count', 'names', ...LAYER_FIELDS] as const;
export const RETIRED_FIELDS = ['since', 'reason', 'drain'] as const;
const CARD_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** What reading a file needs besides its tree. */
export interface Source {
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
