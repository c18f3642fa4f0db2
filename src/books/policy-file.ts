/** A policy file: rules over facts of cards, read whole, every fault with its place. */

import { CARD_STATUSES } from '../contract/card.ts';
import { DAY } from '../core/durations.ts';
import { type Cents, centsOf, parseAmount } from '../core/money.ts';
import { nearest } from '../core/nearest.ts';
import { glob } from '../core/text.ts';
import {
  faultyFile,
  plainOf,
  type YamlEntry,
  type YamlFault,
  type YamlNode,
  type YamlPosition,
  type YamlText,
} from '../terminal/yaml-tree.ts';
import type { Activities } from './activity.ts';
import type { CardRow } from './rows.ts';

/** From the worst to the mildest. */
export const SEVERITIES = ['error', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The only changes a policy may ask for: it never funds, unfreezes or terminates. */
type Remedy = { readonly do: 'freeze' } | { readonly do: 'withdraw'; readonly keep: Cents };

interface Condition {
  /** Name of the fact: `unused_days`, `metadata.owner`. */
  readonly fact: string;
  readonly kind: FactKind;
  /** The test as it was written, for people: `>= 30`. */
  readonly written: string;
  readonly of: (card: CardRow, known: FactSources) => FactValue;
  /** Undefined while the fact is not known. */
  readonly holds: (value: FactValue) => boolean | undefined;
}

export interface Rule {
  readonly name: string;
  readonly severity: Severity;
  /** Which cards the rule speaks of. */
  readonly chooses: (card: CardRow) => boolean;
  /** All must hold. */
  readonly when: readonly Condition[];
  readonly then: Remedy | undefined;
}

export interface Policy {
  readonly rules: readonly Rule[];
}

// What rules may ask of a card, each fact once

/** `days`, `count`: whole numbers. `money`: cents. `percent`: hundredths of a percent. `text`: none, one or several. */
export type FactKind = 'days' | 'count' | 'money' | 'percent' | 'text' | 'flag';

/** The records of the copy are whole after this instant, ms UTC, and up to the instant of the activities. */
export interface FactSources {
  readonly activities: Activities;
  readonly wholeSince: number;
}

/** A number, undefined while it is not known; texts, none for what is empty. */
export type FactValue = number | undefined | readonly string[];

interface FactRow {
  readonly kind: FactKind;
  readonly says: string;
  readonly of: (card: CardRow, known: FactSources) => FactValue;
}

/** Facts of a span are known when all of it was read. */
const within =
  (days: number, count: (card: CardRow, known: FactSources) => number) =>
  (card: CardRow, known: FactSources): number | undefined =>
    known.wholeSince <= known.activities.now - days * DAY ? count(card, known) : undefined;

const spent = (days: 1 | 7 | 30): FactRow => ({
  kind: 'money',
  says: `Settled less refunded in the last ${days === 1 ? '24 hours' : `${days} days`}, USD.`,
  of: within(days, ({ card_id }, { activities }) => activities.of(card_id).spent[days]),
});

/** Every fact but `metadata.<key>`. */
const FACTS = {
  unused_days: {
    kind: 'days',
    says: 'Whole days since the last authorization or settlement; of a card never used, since it was made.',
    of: unusedDays,
  },
  age_days: {
    kind: 'days',
    says: 'Whole days since it was made.',
    of: ({ created_ms }, { activities: { now } }) => (created_ms === null ? undefined : wholeDays(now - created_ms)),
  },
  expires_days: {
    kind: 'days',
    says: 'Whole days until it expires, below 0 afterwards.',
    of: ({ expires_ms }, { activities: { now } }) => (expires_ms === null ? undefined : wholeDays(expires_ms - now)),
  },
  balance: { kind: 'money', says: 'Balance, USD.', of: ({ balance_cents }) => balance_cents ?? undefined },
  spent_1d: spent(1),
  spent_7d: spent(7),
  spent_30d: spent(30),
  limit: {
    kind: 'money',
    says: 'Monthly limit, USD.',
    of: ({ spending_limit_cents }) => spending_limit_cents ?? undefined,
  },
  limit_use: {
    kind: 'percent',
    says: 'Share of the monthly limit that this UTC month used, about: partial reversals leave no record (A-161).',
    of: limitUse,
  },
  declines_1d: {
    kind: 'count',
    says: 'Declines in the last 24 hours.',
    of: within(1, ({ card_id }, { activities }) => activities.of(card_id).declined1),
  },
  refunds_30d: {
    kind: 'count',
    says: 'Refunds in the last 30 days.',
    of: within(30, ({ card_id }, { activities }) => activities.of(card_id).refunded30),
  },
  label: { kind: 'text', says: 'Label.', of: ({ label }) => texts([label]) },
  categories: {
    kind: 'text',
    says: 'Allowed categories; empty means no restriction.',
    of: ({ allowed_categories }) => texts(jsonOf<readonly unknown[]>(allowed_categories, [])),
  },
  own: {
    kind: 'flag',
    says: 'true for a card that cardwright made: its metadata carries our marker.',
    of: card => metadataOf(card, 'cardwright'),
  },
} as const satisfies Record<string, FactRow>;

type FactName = keyof typeof FACTS;

const METADATA = 'metadata.';

/** The fact of that name; undefined when there is none. */
export function factNamed(name: string): FactRow | undefined {
  if (Object.hasOwn(FACTS, name)) return FACTS[name as FactName];
  if (!name.startsWith(METADATA) || name.length === METADATA.length) return undefined;
  const key = name.slice(METADATA.length);
  return { kind: 'text', says: 'A value of its metadata.', of: card => metadataOf(card, key) };
}

/** Metadata of each card, read once: several rules ask for it. */
const READ = new WeakMap<CardRow, Readonly<Record<string, unknown>>>();

/** A value of the metadata; none for a key that is not there. */
function metadataOf(card: CardRow, key: string): readonly string[] {
  const values = READ.get(card) ?? jsonOf<Readonly<Record<string, unknown>>>(card.metadata, {});
  READ.set(card, values);
  return Object.hasOwn(values, key) ? texts([values[key]]) : [];
}

/** An open window may hide a later use, but none that is newer than the one that is known. */
function unusedDays({ card_id, created_ms }: CardRow, { activities, wholeSince }: FactSources): number | undefined {
  const { lastUse } = activities.of(card_id);
  const since = lastUse ?? created_ms;
  if (since === null || since < wholeSince) return undefined;
  return wholeDays(activities.now - since);
}

function limitUse(
  { card_id, spending_limit_cents: limit }: CardRow,
  { activities, wholeSince }: FactSources,
): number | undefined {
  if (limit === null || limit <= 0 || wholeSince > activities.monthStart) return undefined;
  return (activities.limitUsed(card_id) * 10_000) / limit;
}

function wholeDays(ms: number): number {
  return Math.floor(ms / DAY);
}

function texts(values: readonly unknown[]): readonly string[] {
  return values.filter(value => value !== null && value !== undefined && value !== '').map(String);
}

function jsonOf<T>(json: string, otherwise: T): T {
  try {
    return (JSON.parse(json) ?? otherwise) as T;
  } catch {
    return otherwise;
  }
}

// Tests as a policy file writes them

type Holds = Condition['holds'];

/** A test, or what is wrong with it in words. */
type ReadTest = { readonly holds: Holds } | { readonly fault: string };

const FORMS: Readonly<Record<FactKind, string>> = {
  days: '"< <= = >= > or !=, then whole days", such as ">= 30"',
  count: '"< <= = >= > or !=, then a whole number", such as ">= 5"',
  money: '"< <= = >= > or !=, then USD", such as "> 200.00"',
  percent: '"< <= = >= > or !=, then percent", such as "< 10%"',
  text: 'empty, set, a pattern such as "saas*", or a list of patterns',
  flag: 'true or false',
};

const COMPARISON = /^(<=|>=|!=|=|<|>)\s*(\S+)$/;

function readTest(kind: FactKind, node: YamlNode): ReadTest {
  const fault = { fault: `a test of it is ${FORMS[kind]}, not ${JSON.stringify(plainOf(node))}` };
  if (kind === 'text') return textTest(node) ?? fault;
  if (node.kind !== 'value') return fault;
  if (kind === 'flag') return flagTest(node.value) ?? fault;
  const [, operator = '', wanted = ''] = COMPARISON.exec(String(node.value)) ?? [];
  const number = numberOf(kind, wanted);
  if (number === undefined) return fault;
  const compare = OPERATORS[operator as keyof typeof OPERATORS];
  return { holds: value => (typeof value === 'number' ? compare(value, number) : undefined) };
}

const OPERATORS = {
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
  '=': (a: number, b: number) => a === b,
  '>=': (a: number, b: number) => a >= b,
  '>': (a: number, b: number) => a > b,
  '!=': (a: number, b: number) => a !== b,
} as const;

function numberOf(kind: FactKind, text: string): number | undefined {
  const unsigned = text.replace(/^-/, '');
  const size = sizeOf(kind, unsigned);
  return size === undefined || unsigned === text ? size : -size;
}

function sizeOf(kind: FactKind, text: string): number | undefined {
  if (kind === 'money') return parseAmount(text, { grouped: true });
  if (kind !== 'percent') return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  return text.endsWith('%') ? parseAmount(text.slice(0, -1)) : undefined;
}

function flagTest(value: unknown): { readonly holds: Holds } | undefined {
  if (value !== true && value !== false && value !== 'set' && value !== 'empty') return undefined;
  return isThere(value === true || value === 'set');
}

function isThere(wanted: boolean): { readonly holds: Holds } {
  return { holds: value => Array.isArray(value) && value.length > 0 === wanted };
}

function textTest(node: YamlNode): { readonly holds: Holds } | undefined {
  if (node.kind === 'value' && (node.value === 'empty' || node.value === 'set')) return isThere(node.value === 'set');
  const patterns = patternsOf(node);
  if (patterns === undefined) return undefined;
  const tests = patterns.map(glob);
  return { holds: value => Array.isArray(value) && value.some(text => tests.some(test => test(text))) };
}

/** One pattern or a list of them; undefined for anything else, and for an empty one, which would never hold. */
function patternsOf(node: YamlNode): readonly string[] | undefined {
  const nodes = node.kind === 'list' ? node.items : [node];
  const texts = nodes.map(each => (each.kind === 'value' && each.value !== null ? String(each.value) : ''));
  return texts.length === 0 || texts.includes('') ? undefined : texts;
}

// Reads a policy file whole

const MOST_RULES = 200;
const NAME = /^[a-z0-9-]{1,40}$/;

/** `file` is what the user called it. Throws `usage` with every fault of the file. */
export function readPolicy({ faults, root }: YamlText, file: string): Policy {
  const reading = new Reading(faults);
  const policy = root && reading.policy(root);
  if (policy !== undefined && reading.faults.length === 0) return policy;
  throw faultyFile(reading.faults, { file, hint: 'cardwright policy check --help' });
}

type Chooses = Rule['chooses'];

class Reading {
  readonly faults: YamlFault[];
  readonly #names = new Map<string, number>();

  constructor(faults: readonly YamlFault[]) {
    this.faults = [...faults];
  }

  policy(root: YamlNode): Policy | undefined {
    const entries = this.#map(root, '', ['version', 'rules']);
    if (entries === undefined) return undefined;
    const version = entries.get('version')?.node;
    if (version?.kind !== 'value' || version.value !== 1) this.#fault(version ?? root, 'version: must be 1');
    const rules = entries.get('rules')?.node;
    if (rules?.kind !== 'list' || rules.items.length === 0 || rules.items.length > MOST_RULES)
      return this.#fault(rules ?? root, `rules: must be a list of 1 to ${MOST_RULES} rules`);
    return { rules: rules.items.map((item, nth) => this.#rule(item, nth)).filter(rule => rule !== undefined) };
  }

  #rule(node: YamlNode, nth: number): Rule | undefined {
    const path = `rules[${nth}]`;
    const entries = this.#map(node, path, ['name', 'cards', 'when', 'severity', 'then']);
    if (entries === undefined) return undefined;
    return {
      name: this.#name(entries.get('name'), { node, path, nth }),
      severity: this.#severity(entries.get('severity'), path),
      chooses: this.#filter(entries.get('cards'), `${path}.cards`),
      when: this.#when(entries.get('when'), node, `${path}.when`),
      then: this.#remedy(entries.get('then'), `${path}.then`),
    };
  }

  #name(entry: YamlEntry | undefined, rule: { node: YamlNode; path: string; nth: number }): string {
    const place = entry?.node ?? rule.node;
    const name = entry?.node.kind === 'value' ? String(entry.node.value) : '';
    if (!NAME.test(name)) this.#fault(place, `${rule.path}.name: must be 1 to 40 of a-z, 0-9 and -`);
    const earlier = this.#names.get(name);
    if (earlier !== undefined) this.#fault(place, `${rule.path}.name: rules[${earlier}] is called ${name} already`);
    else this.#names.set(name, rule.nth);
    return name;
  }

  #severity(entry: YamlEntry | undefined, path: string): Severity {
    if (entry === undefined) return 'warning';
    const { node } = entry;
    const severity = SEVERITIES.find(each => node.kind === 'value' && node.value === each);
    if (severity === undefined) this.#fault(node, `${path}.severity: must be one of ${SEVERITIES.join(', ')}`);
    return severity ?? 'warning';
  }

  #when(entry: YamlEntry | undefined, rule: YamlNode, path: string): readonly Condition[] {
    if (entry?.node.kind !== 'map' || entry.node.entries.length === 0) {
      this.#fault(entry?.node ?? rule, `${path}: must be a map of facts and tests`);
      return [];
    }
    return entry.node.entries.map(each => this.#condition(each, path)).filter(each => each !== undefined);
  }

  #condition({ name, node, ...place }: YamlEntry, path: string): Condition | undefined {
    const fact = factNamed(name);
    if (fact === undefined) return this.#unknown(place, `${path}.${name}: no such fact`, name, FACT_NAMES);
    const holds = this.#test(fact.kind, node, `${path}.${name}`);
    return holds && { fact: name, kind: fact.kind, written: writtenOf(node), holds, of: fact.of };
  }

  #test(kind: FactKind, node: YamlNode, path: string): Condition['holds'] | undefined {
    const test = readTest(kind, node);
    return 'holds' in test ? test.holds : this.#fault(node, `${path}: ${test.fault}`);
  }

  /** Active cards unless the status is named. */
  #filter(entry: YamlEntry | undefined, path: string): Chooses {
    const isActive: Chooses = card => card.status === 'active';
    if (entry === undefined) return isActive;
    if (entry.node.kind !== 'map') {
      this.#fault(entry.node, `${path}: must be a map of status, bin, label, metadata.<key>`);
      return isActive;
    }
    const tests = entry.node.entries.map(each => this.#choice(each, path)).filter(each => each !== undefined);
    if (!entry.node.entries.some(({ name }) => name === 'status')) tests.push(isActive);
    return card => tests.every(test => test(card));
  }

  #choice({ name, node, ...place }: YamlEntry, path: string): Chooses | undefined {
    const texts = choiceNamed(name);
    if (texts === undefined) {
      const text = `${path}.${name}: cards are chosen by ${FILTER_NAMES.join(', ')}`;
      return this.#unknown(place, text, name, FILTER_NAMES);
    }
    if (name === 'status') this.#statuses(node, `${path}.status`);
    const holds = this.#test('text', node, `${path}.${name}`);
    return holds && (card => holds(texts(card)) === true);
  }

  /** A status that no card can have would choose none, silently. */
  #statuses(node: YamlNode, path: string): void {
    for (const each of node.kind === 'list' ? node.items : [node]) {
      const status = each.kind === 'value' ? String(each.value) : '';
      if (CARD_STATUSES.some(known => known === status)) continue;
      this.#unknown(each, `${path}: ${CARD_STATUSES.join(', ')} are the states of a card`, status, CARD_STATUSES);
    }
  }

  #remedy(entry: YamlEntry | undefined, path: string): Remedy | undefined {
    if (entry === undefined) return undefined;
    const { node } = entry;
    if (node.kind === 'value' && node.value === 'freeze') return { do: 'freeze' };
    const withdraw = node.kind === 'map' && node.entries.length === 1 ? node.entries[0] : undefined;
    if (withdraw?.name !== 'withdraw') return this.#fault(node, `${path}: must be freeze or {withdraw: {keep: 20.00}}`);
    const keep = this.#map(withdraw.node, `${path}.withdraw`, ['keep'])?.get('keep')?.node;
    const amount = keep && amountOf(keep);
    if (amount !== undefined) return { do: 'withdraw', keep: amount };
    return this.#fault(keep ?? withdraw.node, `${path}.withdraw.keep: must be an amount in USD such as 20.00`);
  }

  /** The entries of a map by their names; unknown ones are faults. */
  #map(node: YamlNode, path: string, known: readonly string[]): ReadonlyMap<string, YamlEntry> | undefined {
    if (node.kind !== 'map')
      return this.#fault(node, `${path === '' ? 'a policy' : path}: must be a map of ${known.join(', ')}`);
    for (const entry of node.entries) {
      const { name } = entry;
      const text = `${path === '' ? '' : `${path}.`}${name}: not known here; known are ${known.join(', ')}`;
      if (!known.includes(name)) this.#unknown(entry, text, name, known);
    }
    return new Map(node.entries.map(entry => [entry.name, entry]));
  }

  #unknown(place: YamlPosition, text: string, word: string, known: readonly string[]): undefined {
    const near = nearest(word, known);
    return this.#fault(place, near === undefined ? text : `${text}; ${near}?`);
  }

  #fault({ line, column }: YamlPosition, text: string): undefined {
    this.faults.push({ line, column, text });
  }
}

const FACT_NAMES = [...Object.keys(FACTS), 'metadata.<key>'];
const FILTER_NAMES = ['status', 'bin', 'label', 'metadata.<key>'];

/** What of a card is held against a pattern. */
function choiceNamed(name: string): ((card: CardRow) => readonly string[]) | undefined {
  if (name === 'status') return ({ status }) => [status];
  if (name === 'bin') return ({ bin_id }) => texts([bin_id]);
  if (name === 'label') return ({ label }) => texts([label]);
  if (!name.startsWith(METADATA) || name.length === METADATA.length) return undefined;
  return card => metadataOf(card, name.slice(METADATA.length));
}

function writtenOf(node: YamlNode): string {
  if (node.kind === 'list') return node.items.map(writtenOf).join(' or ');
  return node.kind === 'value' ? String(node.value) : '';
}

function amountOf(node: YamlNode): Cents | undefined {
  if (node.kind !== 'value') return undefined;
  if (typeof node.value === 'string') return parseAmount(node.value);
  const amount = typeof node.value === 'number' ? centsOf(node.value) : undefined;
  return amount !== undefined && amount >= 0 ? amount : undefined;
}
