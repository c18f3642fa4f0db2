/**
 * Reads a scenario and checks all of it before its first step: operations, their fields and limits, names of earlier
 * answers. Every fault has its line and column.
 */

import { fieldsOf, STEP_OPERATIONS, type StepOperation } from '../contract/sandbox/methods.ts';
import { mismatches } from '../contract/sandbox/together.ts';
import { shapeProblem } from '../contract/violation.ts';
import { SCENARIO_STEPS } from '../core/input-limits.ts';
import {
  faultyFile,
  plainOf,
  type YamlEntry,
  type YamlFault,
  type YamlNode,
  type YamlPosition,
  type YamlText,
} from '../terminal/yaml-tree.ts';

export interface Step extends YamlPosition {
  /** Counted from 1. */
  readonly nth: number;
  readonly operation: StepOperation;
  /** In wire form, references as they stand. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly as: string | undefined;
  readonly expect: unknown;
  /** Identifier of the error it must be refused with. */
  readonly fails: string | undefined;
}

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}

const STEP_WORDS = ['as', 'expect', 'fails', 'note'];

/** `file` is what the user called it. Throws `usage` with every fault of the file; nothing was sent then. */
export function readScenario({ faults, root }: YamlText, file: string): Scenario {
  const reading = new Reading(faults);
  const scenario = root && reading.scenario(root);
  if (scenario !== undefined && reading.faults.length === 0) return scenario;
  throw faultyFile(reading.faults, { file, hint: 'cardwright help scenarios' });
}

class Reading {
  readonly faults: YamlFault[];
  /** Steps whose answers were given a name. */
  readonly #known = new Map<string, StepOperation>();

  constructor(faults: readonly YamlFault[]) {
    this.faults = [...faults];
  }

  scenario(root: YamlNode): Scenario | undefined {
    if (root.kind !== 'map') return this.#fault(root, 'a scenario is a map of scenario and steps');
    const known = ['scenario', 'about', 'steps'];
    for (const entry of root.entries) {
      if (!known.includes(entry.name))
        this.#fault(entry, `${shown(entry.name)} is not known here; known: ${known.join(', ')}`);
    }
    const name = this.#text(root, 'scenario');
    this.#text(root, 'about', true);
    const steps = root.entries.find(entry => entry.name === 'steps');
    if (steps?.node.kind !== 'list') return this.#fault(steps?.node ?? root, 'steps must be a list');
    const { items } = steps.node;
    if (items.length === 0 || items.length > SCENARIO_STEPS) {
      return this.#fault(
        steps.node,
        `${items.length} steps; a scenario has 1 to ${SCENARIO_STEPS.toLocaleString('en-US')}`,
      );
    }
    const read = items.map((item, index) => this.#step(item, index + 1));
    return { name: name ?? '', steps: read.filter(step => step !== undefined) };
  }

  #step(node: YamlNode, nth: number): Step | undefined {
    if (node.kind !== 'map') return this.#fault(node, 'a step is a map of an operation and its fields');
    const words = node.entries.filter(({ name }) => STEP_WORDS.includes(name));
    const [asked, ...others] = node.entries.filter(({ name }) => !STEP_WORDS.includes(name));
    if (asked === undefined) return this.#fault(node, 'the step names no operation');
    for (const other of others) this.#fault(other, `a step has one operation; ${shown(other.name)} is a second`);
    const operation = STEP_OPERATIONS.get(asked.name);
    if (operation === undefined) {
      return this.#fault(
        asked,
        `${shown(asked.name)} is no operation of a scenario; cardwright help scenarios lists them`,
      );
    }
    const word = (name: string) => words.find(entry => entry.name === name);
    const input = this.#input(operation, asked);
    const expect = word('expect');
    if (expect !== undefined) this.#references(expect.node);
    const fails = this.#text(node, 'fails', true);
    if (expect !== undefined && fails !== undefined) this.#fault(expect, 'a step that fails has no answer to expect');
    this.#text(node, 'note', true);
    const as = this.#name(word('as'), operation);
    if (as !== undefined && fails !== undefined)
      this.#fault(word('as') ?? node, 'a step that fails has no answer to name');
    return {
      nth,
      line: node.line,
      column: node.column,
      operation,
      input,
      as,
      expect: expect && plainOf(expect.node),
      fails,
    };
  }

  #input(operation: StepOperation, { node }: YamlEntry): Readonly<Record<string, unknown>> {
    if (node.kind === 'value' && node.value === null) return this.#checked(operation, node, []);
    if (node.kind === 'map') return this.#checked(operation, node, node.entries);
    this.#fault(node, `the fields of ${operation.name} must be a map; {} for none`);
    return {};
  }

  #checked(operation: StepOperation, node: YamlNode, entries: readonly YamlEntry[]) {
    const fields = fieldsOf(operation);
    this.#references(node);
    // What an earlier step will have answered is not known yet; the rest is held against the row.
    const later = entries.filter(entry => hasReference(plainOf(entry.node))).map(({ name }) => name);
    const shape = Object.fromEntries(Object.entries(fields).filter(([name]) => !later.includes(name)));
    const rest = Object.fromEntries(
      entries
        .filter(({ name }) => !later.includes(name) || !Object.hasOwn(fields, name))
        .map(entry => [entry.name, plainOf(entry.node)]),
    );
    const faultsBefore = this.faults.length;
    // One problem at a time is known to the check; each field is asked alone, so that all of them are told.
    for (const [name, field] of Object.entries(shape)) {
      const given = Object.hasOwn(rest, name) ? { [name]: rest[name] } : {};
      const problem = shapeProblem({ [name]: field }, given);
      if (problem !== undefined)
        this.#fault(entries.find(entry => entry.name === name)?.node ?? node, `${name} ${problem.text}`);
    }
    for (const entry of entries.filter(({ name }) => !Object.hasOwn(fields, name))) {
      const known = Object.keys(fields).join(', ') || 'nothing';
      this.#fault(entry, `${entry.name} is not known to ${operation.name}; known: ${known}`);
    }
    // Said of fields that are right one by one.
    const found =
      this.faults.length > faultsBefore
        ? []
        : mismatches(operation.name, { given: new Set(entries.map(({ name }) => name)), values: rest });
    for (const { field, text } of found) {
      this.#fault(entries.find(({ name }) => name === field)?.node ?? node, text);
    }
    return Object.fromEntries(entries.map(entry => [entry.name, plainOf(entry.node)]));
  }

  #name(entry: YamlEntry | undefined, operation: StepOperation): string | undefined {
    if (entry === undefined) return undefined;
    const name = entry.node.kind === 'value' ? entry.node.value : undefined;
    if (typeof name !== 'string' || !isName(name)) {
      return this.#fault(entry.node, 'as must be a word: lower-case letters, digits and _');
    }
    this.#known.set(name, operation);
    return name;
  }

  #references(node: YamlNode): void {
    if (node.kind === 'list') for (const item of node.items) this.#references(item);
    if (node.kind === 'map') for (const entry of node.entries) this.#references(entry.node);
    if (node.kind !== 'value') return;
    const reference = referenceOf(node.value);
    if (isMistaken(node.value)) this.#fault(node, `${shown(node.value)} is no reference; $$ begins a plain $`);
    if (reference !== undefined) this.#leadsSomewhere(reference, node);
  }

  #leadsSomewhere({ name, path }: Reference, node: YamlNode): void {
    const operation = this.#known.get(name);
    if (operation === undefined) this.#fault(node, `no earlier step is called ${shown(name)}`);
    const known = operation && possibleMembers(operation.row, path);
    if (operation === undefined || known === undefined) return;
    const asked = `$${[name, ...path].join('.')}`;
    this.#fault(node, `${asked} is in no answer of ${operation.name}; known: ${known.join(', ') || 'nothing'}`);
  }

  #text(node: YamlNode, name: string, optional = false): string | undefined {
    const entry = node.kind === 'map' ? node.entries.find(each => each.name === name) : undefined;
    if (entry === undefined) return optional ? undefined : this.#fault(node, `${name} is missing`);
    if (entry.node.kind === 'value' && typeof entry.node.value === 'string' && entry.node.value !== '')
      return entry.node.value;
    return this.#fault(entry.node, `${name} must be text`);
  }

  #fault({ line, column }: YamlPosition, text: string): undefined {
    this.faults.push({ line, column, text });
  }
}

function hasReference(value: unknown): boolean {
  if (referenceOf(value) !== undefined) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasReference);
}

const shown = (value: unknown) => JSON.stringify(value);

// `$card.id` in a scenario: a value of what an earlier step answered, named by its `as`. `$$` begins a plain `$`.

const REFERENCE = /^\$([a-z][a-z0-9_]*)((?:\.[A-Za-z0-9_]+)*)$/;

interface Reference {
  readonly name: string;
  /** Members and places in lists, from the whole answer inwards. */
  readonly path: readonly string[];
}

/** Names that `as` may give. */
const isName = (text: string) => /^[a-z][a-z0-9_]*$/.test(text);

function referenceOf(value: unknown): Reference | undefined {
  const [whole, name = '', path = ''] = (typeof value === 'string' && REFERENCE.exec(value)) || [];
  return whole === undefined ? undefined : { name, path: path.split('.').slice(1) };
}

/** Text that looks like a reference and is none. */
function isMistaken(value: unknown): boolean {
  return typeof value === 'string' && /^\$[^$]/.test(value) && referenceOf(value) === undefined;
}

/** Members of an answer that a path could go on with; undefined when it leads to one, or to where nobody knows. */
function possibleMembers({ returns }: StepOperation['row'], path: readonly string[]): readonly string[] | undefined {
  const inOrder = (known: readonly string[], member: string | undefined) =>
    member === undefined || known.includes(member) ? undefined : known;
  const members = Object.keys(returns.shape);
  if (returns.kind === 'none') return [];
  if (returns.kind === 'raw') return undefined;
  if (returns.kind === 'one') return inOrder(members, path[0]);
  const [part, place, member] = path;
  if (part !== 'data') return inOrder(['data', 'page'], part);
  if (place !== undefined && !/^\d+$/.test(place)) return ['0', '1', '2'];
  return inOrder(members, member);
}

type Captured = ReadonlyMap<string, unknown>;

/** What a reference leads to; undefined when the answer has no such member. */
function resolveReference({ name, path }: Reference, captured: Captured): unknown {
  let value = captured.get(name);
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}

/** A value with its references replaced, however deep they stand. Throws a `RangeError` naming one that leads nowhere. */
export function resolved(value: unknown, captured: Captured): unknown {
  const reference = referenceOf(value);
  if (reference !== undefined) {
    const found = resolveReference(reference, captured);
    if (found === undefined) throw new RangeError(`${String(value)} is not in what that step answered`);
    return found;
  }
  if (typeof value === 'string') return value.startsWith('$$') ? value.slice(1) : value;
  if (Array.isArray(value)) return value.map(entry => resolved(entry, captured));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, resolved(entry, captured)]));
}
