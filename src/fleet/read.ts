/** A fleet file read whole, its cards written out one by one: every fault at once, each with its place. */

import { LIMITS } from '../contract/limits.ts';
import type { CliError } from '../core/errors.ts';
import { cents, plainAmount } from '../core/money.ts';
import {
  checkYamlFile,
  faultyFile,
  placeIfThere,
  placeIn,
  v,
  type YamlFault,
  type YamlPosition,
  type YamlTree,
} from '../terminal/yaml-file.ts';
import {
  type BinWish,
  type Entry,
  FLEET_FILE,
  type Fleet,
  type FleetFile,
  type Layer,
  LONGEST_NAME,
  MOST_CARDS,
  secretsIn,
  type Wish,
} from './fleet-file.ts';

const USUAL_QUARANTINE = 30;
const HINT = 'cardwright fleet validate --help';

type Fault = (place: YamlPosition, text: string) => void;

/**
 * Throws `usage` with every fault of the file, `file` being what the user called it. `now` (ms UTC): a card is not retired from a
 * day on that lies ahead; left out where the account is asked, which has a clock. Nothing was sent.
 */
export function readFleet(
  text: string,
  { file, now }: { readonly file: string; readonly now?: number | undefined },
): Fleet {
  const read = checkYamlFile(text, FLEET_FILE, { file, hint: HINT, more: secretsIn(text) });
  const { root, value = fittingParts(read) } = read;
  const faults: YamlFault[] = [...read.faults];
  const fault: Fault = ({ line, column }, what) => faults.push({ line, column, text: what });
  const { caps, quarantine = USUAL_QUARANTINE } = value;
  const wishes = expandEntries(value, root, fault);
  const fleet = {
    name: value.fleet,
    caps: { ...caps, wallet_reserve: caps.wallet_reserve ?? cents(0) },
    wishes,
    entries: Object.keys(value.cards ?? {}).length,
    moved: checkedMoves(value, new Set(wishes.map(({ name }) => name)), root, fault),
    retired: Object.entries(value.retired ?? {}).map(([card, line]) => ({ card, ...line })),
    quarantineDays: quarantine,
    defaultFields: new Set(Object.keys(value.defaults ?? {})),
    root,
  };
  checkIds(fleet, now, fault);
  if (faults.length > 0) throw faultyFleet(faults, file);
  return fleet;
}

/** The entries of a faulty file that can be judged all the same: what would follow from a fault is none. */
function fittingParts({ plain, misfits }: Pick<ReturnType<typeof checkYamlFile>, 'plain' | 'misfits'>): FleetFile {
  const isFaulty = (...path: readonly string[]) =>
    misfits.some(misfit => path.every((step, depth) => depth >= misfit.length || misfit[depth] === step));
  const whole = (plain ?? {}) as Readonly<Record<string, Readonly<Record<string, { template?: string } | null>>>>;
  const entriesOf = (part: string) => (isFaulty(part, '') ? [] : Object.entries(whole[part] ?? {}));
  const parts = (part: string) => entriesOf(part).filter(([name]) => !isFaulty(part, name));
  const areDefaultsFaulty = misfits.some(([top]) => top === 'defaults');
  const cards = parts('cards').filter(
    ([, entry]) => !areDefaultsFaulty && !isFaulty('templates', entry?.template ?? ''),
  );
  const hasAllCards = cards.length === entriesOf('cards').length;
  return v.parse(FLEET_FILE, {
    version: '1',
    fleet: 'any',
    caps: { per_apply: '0', cards: '0' },
    ...(!areDefaultsFaulty && { defaults: whole['defaults'] }),
    ...(hasAllCards && { moved: Object.fromEntries(parts('moved')) }),
    templates: Object.fromEntries(parts('templates')),
    cards: Object.fromEntries(cards),
    retired: Object.fromEntries(parts('retired')),
  });
}

/** No card by its id in two places, and none retired from a day on that lies ahead. */
function checkIds({ wishes, retired, root }: Fleet, now = Infinity, fault: Fault): void {
  const pins = new Map<string, Wish>();
  for (const wish of wishes) {
    if (wish.pin === undefined) continue;
    const other = pins.get(wish.pin);
    if (other !== undefined)
      fault(
        keyOf(root, wish.entry),
        `${wish.pin} is also the card of ${other.name}, line ${keyOf(root, other.entry).line}`,
      );
    pins.set(wish.pin, wish);
  }
  for (const { card, since } of retired) {
    const pinned = pins.get(card);
    if (pinned !== undefined)
      fault(
        placeIn(root, ['retired', card], true),
        `${card} is also in cards (line ${keyOf(root, pinned.entry).line}); one of the two`,
      );
    if (Date.parse(`${since}T00:00:00Z`) > now)
      fault(placeIn(root, ['retired', card, 'since']), `since ${since} lies ahead`);
  }
}

// Places of faults

const keyOf = (root: YamlTree, entry: string) => placeIn(root, ['cards', entry], true);

/** Where a field of a card stands: in its entry, its template or the defaults; else the key of its entry. */
function placeOf(root: YamlTree, { entry, template }: Pick<Wish, 'entry' | 'template'>, field: string): YamlPosition {
  const layers = [['cards', entry], ...(template === undefined ? [] : [['templates', template]]), ['defaults']];
  const [found] = layers.flatMap(layer => placeIfThere(root, [...layer, field]) ?? []);
  return found ?? keyOf(root, entry);
}

/** A fault that only the account can tell, at the field it is about. */
export function faultAt({ root }: Fleet, wish: Wish, field: string, text: string): YamlFault {
  const { line, column } = placeOf(root, wish, field);
  return { line, column, text };
}

/** Of faults that only the account can tell. */
export function faultyFleet(faults: readonly YamlFault[], file: string): CliError {
  return faultyFile(faults, { file, hint: HINT });
}

// Entries of `cards` written out

/** Metadata keys besides the marker. */
const MOST_KEYS = LIMITS.metadataKeys.max - 1;
const DOLLAR = cents(100);
const FUNDING = `${plainAmount(cents(LIMITS.fundingAmount.min))} to ${plainAmount(cents(LIMITS.fundingAmount.max))}`;

/** Every card that the entries ask for, in their order. */
function expandEntries({ defaults, templates = {}, cards }: FleetFile, root: YamlTree, fault: Fault): readonly Wish[] {
  const wishes: Wish[] = [];
  const taken = new Map<string, string>();
  for (const [key, entry] of Object.entries(cards ?? {})) {
    const { template, card: pin, replace = [], count, names, ...own } = entry ?? {};
    const place = keyOf(root, key);
    const at = (field: string) => placeOf(root, { entry: key, template }, field);
    if (template !== undefined && !Object.hasOwn(templates, template)) {
      const known = Object.keys(templates).join(', ');
      fault(at('template'), `no template "${template}"; ${known === '' ? 'there is none' : `known: ${known}`}`);
    }
    const layer = mergedLayer(defaults, template === undefined ? null : templates[template], own);
    const replaced = (Array.isArray(replace) ? replace : [replace]).map(each =>
      typeof each === 'string' ? { card: each, overlap: false } : each,
    );
    const isOneOfSeveral = count !== undefined || names !== undefined;
    if (count !== undefined && names !== undefined) fault(at('names'), '`count` or `names`, one of the two');
    if (pin !== undefined && isOneOfSeveral) fault(place, 'a card with `card` has no `count` and no `names`');
    if (pin !== undefined && replaced.length > 0)
      fault(at('replace'), '`replace` takes the place of `card`; one of the two');
    if (!isOneOfSeveral && replaced.length > 1) fault(place, 'one card has one `replace`');
    // An adopted card is there; it is never made.
    if (pin === undefined && layer.amount === undefined)
      fault(place, `amount is missing: what a new card holds, ${FUNDING}`);
    for (const [field, text] of contradictions(layer, pin === undefined)) fault(at(field), text);
    const { owner: _, team: __, bin, label, state = 'active', ...rest } = layer;
    for (const { name, ...filled } of namesOf(key, entry ?? {})) {
      const other = taken.get(name);
      if (other !== undefined) {
        const several = cards?.[other];
        const how = several?.names !== undefined ? ' with names' : several?.count ? ` with count ${several.count}` : '';
        fault(place, `${name} is also made by \`${other}\`${how}, line ${keyOf(root, other).line}`);
        continue;
      }
      taken.set(name, key);
      if (name.length > LONGEST_NAME) {
        fault(place, `"${name}" has ${name.length} characters, at most ${LONGEST_NAME}`);
        continue;
      }
      wishes.push({
        ...rest,
        name,
        entry: key,
        template,
        pin,
        replaced,
        isOneOfSeveral,
        bin: binOf(bin),
        label: label === undefined ? undefined : labelOf(label, { name, ...filled }, text => fault(at('label'), text)),
        metadata: metadataOf(layer),
        state,
      });
    }
  }
  if (wishes.length > MOST_CARDS) fault(placeIn(root, []), `${wishes.length} cards, at most ${MOST_CARDS}`);
  return wishes;
}

/** The later layer wins; metadata is merged by key. */
function mergedLayer(...layers: readonly (Layer | null | undefined)[]): Layer {
  const merged: Layer = Object.assign({}, ...layers);
  const metadata = Object.assign({}, ...layers.map(layer => layer?.metadata));
  return { ...merged, metadata };
}

function binOf(bin: Layer['bin'] = 'auto'): BinWish {
  if (typeof bin !== 'string') return { by: 'criteria', ...bin };
  return bin === 'auto' ? { by: 'auto' } : { by: 'id', id: bin };
}

interface Named {
  readonly name: string;
  /** `{name}` of a label. */
  readonly word: string;
  /** `{n}` of a label. */
  readonly number: number | undefined;
}

function namesOf(key: string, { count, names }: Partial<Entry>): readonly Named[] {
  if (names !== undefined) return names.map(word => ({ name: `${key}-${word}`, word, number: undefined }));
  if (count === undefined) return [{ name: key, word: key, number: undefined }];
  return Array.from({ length: count }, (_, index) => ({ name: `${key}-${index + 1}`, word: key, number: index + 1 }));
}

/** What speaks against the fields together, once for all cards of an entry: the field, and why. */
function* contradictions(layer: Layer, isNew: boolean): Generator<readonly [field: string, text: string]> {
  const { amount, floor, top_up_to: most, auto_freeze_at: freezeAt, monthly_cap: cap } = layer;
  if (most !== undefined && floor === undefined) yield ['top_up_to', 'top_up_to needs a floor'];
  if (floor !== undefined && most === undefined) yield ['floor', 'floor needs top_up_to'];
  if (cap !== undefined && most === undefined) yield ['monthly_cap', 'monthly_cap needs top_up_to'];
  if (floor !== undefined && most !== undefined && most < floor + DOLLAR) {
    const least = plainAmount(cents(floor + DOLLAR));
    yield ['top_up_to', `top_up_to ${plainAmount(most)} must be at least ${least} (floor + 1.00)`];
  }
  if (floor !== undefined && freezeAt != null && floor <= freezeAt)
    yield ['floor', `floor ${plainAmount(floor)} is not above auto_freeze_at ${plainAmount(freezeAt)}`];
  if (floor !== undefined && cap !== undefined && cap < floor) {
    const text = `monthly_cap ${plainAmount(cap)} is below floor ${plainAmount(floor)}`;
    yield ['monthly_cap', `${text}, so the card can never be brought to it`];
  }
  if (isNew && amount !== undefined && freezeAt != null && amount < freezeAt) {
    const text = `amount ${plainAmount(amount)} is below auto_freeze_at ${plainAmount(freezeAt)}`;
    yield ['amount', `${text}, so the card would be frozen at once`];
  }
  const keys = Object.keys(metadataOf(layer)).length;
  if (keys > MOST_KEYS) {
    const others = layer.owner !== undefined || layer.team !== undefined ? ' with owner and team' : '';
    yield ['metadata', `${keys} keys${others}; ${MOST_KEYS} are free beside the marker`];
  }
}

function labelOf(label: string, { name, word, number }: Named, fault: (text: string) => void): string {
  if (number === undefined && label.includes('{n}')) fault('{n} is the number of a card of `count`');
  const filled = label.replaceAll('{name}', word).replaceAll('{n}', String(number ?? ''));
  const [length, most] = [[...filled].length, LIMITS.labelLength.max];
  if (length > most) {
    const from = filled === label ? '' : `; expanded from ${JSON.stringify(label)} for ${name}`;
    fault(`${length} characters, at most ${most}${from}`);
  }
  return filled;
}

function metadataOf({ metadata, owner, team }: Layer): Readonly<Record<string, string>> {
  return { ...metadata, ...(owner !== undefined && { owner }), ...(team !== undefined && { team }) };
}

// Cards under a new name

/** Old names, each with the name of a card of this file: whoever renames a card twice writes its last name in both lines. */
function checkedMoves(
  { moved = {} }: FleetFile,
  names: ReadonlySet<string>,
  root: YamlTree,
  fault: Fault,
): ReadonlyMap<string, string> {
  for (const [old, name] of Object.entries(moved ?? {})) {
    if (names.has(old))
      fault(placeIn(root, ['moved', old], true), `${old} is still in cards; a name leads to one card`);
    else if (!names.has(name))
      fault(placeIn(root, ['moved', old]), `moved: ${old} leads to ${name}, and ${name} is no card of this file`);
  }
  return new Map(Object.entries(moved ?? {}));
}
