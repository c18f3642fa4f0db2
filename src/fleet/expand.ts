/** Entries of `cards` written out: defaults, template and card merged, `count` and `names` made into one card each. */
import { LIMITS } from '../contract/limits.ts';
import { cents, plainAmount } from '../core/money.ts';
import type { YamlPosition } from '../terminal/yaml-tree.ts';
import type { Replaced, Wish } from './fleet-file.ts';
import { type Layer, mergedLayer } from './layer.ts';
import { LONGEST_NAME } from './names.ts';
import type { Reading } from './reading.ts';

/** One entry as it was read. */
export interface Entry {
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
export function expandEntries(reading: Reading, entries: readonly Entry[]): readonly Wish[] {
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
