/** Reads a policy file whole: every fault with its line, its column and the nearest word that there is. */
import { CARD_STATUSES } from '../../contract/card.ts';
import { type Cents, centsOf, parseAmount } from '../../core/money.ts';
import { nearest } from '../../core/nearest.ts';
import {
  faultyFile,
  type YamlEntry,
  type YamlFault,
  type YamlNode,
  type YamlPosition,
  type YamlText,
} from '../../terminal/yaml-tree.ts';
import type { CardRow } from '../rows.ts';
import { FACTS, type FactKind, factNamed, metadataOf } from './facts.ts';
import { type Condition, type Policy, type Remedy, type Rule, SEVERITIES, type Severity } from './policy.ts';
import { readTest } from './tests-of-facts.ts';

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
    const texts = FILTERS.get(name) ?? (/^metadata\../.test(name) ? metadataChoice(name) : undefined);
    if (texts === undefined)
      return this.#unknown(
        place,
        `${path}.${name}: cards are chosen by ${FILTER_NAMES.join(', ')}`,
        name,
        FILTER_NAMES,
      );
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
const FILTERS: ReadonlyMap<string, (card: CardRow) => readonly string[]> = new Map([
  ['status', ({ status }) => [status]],
  ['bin', ({ bin_id }) => (bin_id === null ? [] : [bin_id])],
  ['label', ({ label }) => (label === null || label === '' ? [] : [label])],
]);
const FILTER_NAMES = [...FILTERS.keys(), 'metadata.<key>'];

function metadataChoice(name: string): (card: CardRow) => readonly string[] {
  const key = name.slice('metadata.'.length);
  return card => metadataOf(card, key);
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
