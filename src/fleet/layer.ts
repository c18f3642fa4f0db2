/** Fields of a card as one part of a file says them: the defaults, a template, or the card itself. */
import { CREATE_CARD } from '../contract/card.ts';
import { LIMITS } from '../contract/limits.ts';
import { type Cents, cents } from '../core/money.ts';
import type { YamlEntry, YamlNode, YamlPosition } from '../terminal/yaml-tree.ts';
import { BIN_NEEDS, type BinNeed, type BinWish, CARD_STATES, type CardState } from './fleet-file.ts';
import type { Reading } from './reading.ts';

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

/** Names of the fields that defaults, templates and cards take alike. */
export const LAYER_FIELDS = [
  'amount',
  'bin',
  'label',
  'limit',
  'categories',
  'auto_freeze_at',
  'owner',
  'team',
  'metadata',
  'state',
  'floor',
  'top_up_to',
  'monthly_cap',
] as const;
type LayerField = (typeof LAYER_FIELDS)[number];

type ReadField = (reading: Reading, layer: Layer, node: YamlNode) => void;

const READ: Readonly<Record<LayerField, ReadField>> = {
  amount(reading, layer, node) {
    layer.amount = reading.amount(node, FUNDING);
  },
  bin(reading, layer, node) {
    layer.bin = readBin(reading, node);
  },
  label(reading, layer, node) {
    layer.label = reading.text(node, 'label');
  },
  limit(reading, layer, node) {
    layer.limit = reading.amount(node, POSITIVE);
  },
  categories(reading, layer, node) {
    layer.categories = readCategories(reading, node);
  },
  auto_freeze_at(reading, layer, node) {
    const isNull = node.kind === 'value' && node.value === null && !node.quoted;
    layer.autoFreezeAt = isNull
      ? null
      : reading.amount(node, { least: CREATE_CARD.auto_freeze_at.min ?? 0, section: '4.1' });
  },
  owner(reading, layer, node) {
    layer.owner = readValue(reading, node, 'owner');
  },
  team(reading, layer, node) {
    layer.team = readValue(reading, node, 'team');
  },
  metadata(reading, layer, node) {
    layer.metadata = readMetadata(reading, node);
  },
  state(reading, layer, node) {
    const state = CARD_STATES.find(each => node.kind === 'value' && node.value === each);
    if (state === undefined) reading.fault(node, `state is ${CARD_STATES.join(' or ')}`);
    layer.state = state;
  },
  floor(reading, layer, node) {
    layer.floor = reading.amount(node, POSITIVE);
  },
  top_up_to(reading, layer, node) {
    layer.topUpTo = reading.amount(node, POSITIVE);
  },
  monthly_cap(reading, layer, node) {
    layer.monthlyCap = reading.amount(node, POSITIVE);
  },
};

/** Takes the fields of a layer from the entries of a map; others are left to the caller. */
export function readLayer(reading: Reading, entries: Iterable<YamlEntry>): Layer {
  const layer: Layer = { places: new Map() };
  for (const { name, node } of entries) {
    if (!Object.hasOwn(READ, name)) continue;
    READ[name as LayerField](reading, layer, node);
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
