/**
 * Files in YAML: read whole against a schema, every fault with its line and column. Home of `yaml` and of `valibot`; it is
 * loaded by the commands that read such a file.
 */
import * as v from 'valibot';
import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { type CliError, notSent } from '../core/errors.ts';
import { cents, parseAmount, plainAmount } from '../core/money.ts';
import { nearest } from '../core/nearest.ts';

export { v };

// The tree of a file: every node knows its place, from 1

export interface YamlPosition {
  readonly line: number;
  readonly column: number;
}

export interface YamlEntry extends YamlPosition {
  readonly name: string;
  readonly node: YamlNode;
}

export type YamlNode = YamlPosition &
  (
    | {
        readonly kind: 'value';
        readonly value: string | number | boolean | null;
        /** Text in the file, without the quotes: `500.00` of the number 500. Empty where nothing stands. */
        readonly written: string;
      }
    | { readonly kind: 'list'; readonly items: readonly YamlNode[] }
    | { readonly kind: 'map'; readonly entries: readonly YamlEntry[] }
  );

export interface YamlFault extends YamlPosition {
  readonly text: string;
}

const DEEPEST = 24;
/** What every object of JavaScript has: the library skips them, and nothing of a file is skipped. */
export const NO_KEYS: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);

/**
 * Only what JSON could hold is taken: no aliases, no tags, one document, text for keys, each once. What is wrong is listed; of a
 * text that is no YAML there is no tree.
 */
export function yamlTree(text: string): { readonly faults: readonly YamlFault[]; readonly root?: YamlNode } {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    version: '1.2',
    schema: 'core',
    // The library compares each key with all others of its map; below they are compared in a set.
    uniqueKeys: false,
  });
  const faults: YamlFault[] = [];
  const fault = (at: number, what: string) => {
    const { line, col } = lines.linePos(at);
    faults.push({ line, column: col, text: what });
  };
  for (const { code, message, pos } of document.errors)
    fault(pos[0], IN_OUR_WORDS[code] ?? message.replace(/\s+/g, ' ').trim());
  if (faults.length > 0) return { faults };
  const read = (node: unknown, at: number, depth: number): YamlNode => {
    const { range, tag } = (node ?? {}) as { range?: readonly number[] | null; tag?: string };
    const start = range?.[0] ?? at;
    const { line, col: column } = lines.linePos(start);
    if (depth > DEEPEST) fault(start, `nested more than ${DEEPEST} levels deep`);
    else if (tag !== undefined) fault(start, `a tag (${tag}) means nothing here`);
    else if (isMap(node)) {
      const seen = new Map<string, number>();
      const entries = node.items.map(({ key, value }) => {
        const { line, column, ...named } = read(key, start, depth + 1);
        const name = named.kind === 'value' ? String(named.value) : '';
        const first = seen.get(name);
        if (named.kind !== 'value' || typeof named.value !== 'string') fault(start, 'a key must be text');
        else if (NO_KEYS.has(name)) faults.push({ line, column, text: `${name} can be no key` });
        else if (first !== undefined)
          faults.push({ line, column, text: `"${shown(name)}" stands twice, first at line ${first}` });
        else seen.set(name, line);
        return { name, line, column, node: read(value, start, depth + 1) };
      });
      return { kind: 'map', line, column, entries };
    } else if (isSeq(node)) {
      return { kind: 'list', line, column, items: node.items.map(item => read(item, start, depth + 1)) };
    } else if (isScalar(node)) {
      const { value, source: written = '' } = node;
      const isPlain = value === null || ['string', 'number', 'boolean'].includes(typeof value);
      return { kind: 'value', line, column, value: isPlain ? (value as string | null) : String(value ?? ''), written };
    } else if (node !== null && node !== undefined) fault(start, 'an alias means nothing here: write it out');
    return { kind: 'value', line, column, value: null, written: '' };
  };
  const root = read(document.contents, 0, 0);
  return { faults, root };
}

const IN_OUR_WORDS: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'tabs may not indent',
  MULTIPLE_DOCS: 'a second document begins here; a file holds one: write it into a file of its own, without ---',
};

/** The JSON value of a node. With `asWritten`, numbers and truths are the text that stands there: `25.00`, `0742`. */
function plainOf(node: YamlNode, asWritten: boolean): unknown {
  if (node.kind === 'list') return node.items.map(item => plainOf(item, asWritten));
  if (node.kind === 'map')
    return Object.fromEntries(node.entries.map(({ name, node: value }) => [name, plainOf(value, asWritten)]));
  return asWritten && node.value !== null ? node.written : node.value;
}

/** From the root inwards: names of members and places in lists. */
export type YamlPath = readonly (string | number)[];

/** The member or list place at a path; undefined where nothing stands. */
export function entryIn(root: YamlNode, path: YamlPath): YamlEntry | undefined {
  let found: YamlEntry = { ...root, name: '', node: root };
  for (const step of path) {
    const { node } = found;
    const item = node.kind === 'list' ? node.items[Number(step)] : undefined;
    const next =
      node.kind === 'map'
        ? node.entries.findLast(({ name }) => name === step)
        : item && { ...item, name: '', node: item };
    if (next === undefined) return undefined;
    found = next;
  }
  return found;
}

/** Where a value stands, or with `ofKey` its key; where nothing stands, the place of what it would stand in. */
export function placeIn(root: YamlNode, path: YamlPath, ofKey = false): YamlPosition {
  const found = entryIn(root, path);
  if (found === undefined) return placeIn(root, path.slice(0, -1));
  const { line, column } = ofKey ? found : found.node;
  return { line, column };
}

// Faults

const MOST_SHOWN = 19;
/** Faults of the JSON error. */
const MOST_KEPT = 200;

/** `usage` with every fault of a file in the order of its lines; `file` is what the user called it. Nothing was sent. */
export function faultyFile(
  faults: readonly YamlFault[],
  { file, hint }: { readonly file: string; readonly hint: string },
): CliError {
  // What several values have from one place is one fault.
  const once = new Map(faults.map(fault => [`${fault.line}:${fault.column}:${fault.text}`, fault]));
  const sorted = [...once.values()].sort((a, b) => a.line - b.line || a.column - b.column);
  const [first, ...others] = sorted.map(({ line, column, text }) => `${file}:${line}:${column}: ${text}`);
  const left = others.length - MOST_SHOWN;
  return notSent('usage', first ?? `${file} is empty`, {
    notes: [...others.slice(0, MOST_SHOWN), ...(left > 0 ? [`and ${left} more`] : [])],
    hint,
    faults: sorted.slice(0, MOST_KEPT).map(({ line, column, text }) => ({ file, line, column, text })),
  });
}

const LONGEST_SHOWN = 60;

/** A text of the file in a message; a long one is cut. */
export function shown(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

// Reading against a schema

type Schema<Value> = v.GenericSchema<unknown, Value>;

interface Source {
  /** What the user called it. */
  readonly file: string;
  readonly hint: string;
  /** Faults that the text has whatever its schema. */
  readonly more?: readonly YamlFault[];
  /** Numbers and truths come as the text that stands there, and the schema says what is made of it; false for those of JSON. */
  readonly asWritten?: boolean;
}

/** A file with all that is wrong in it. */
interface CheckedYaml<Value> {
  readonly root: YamlNode;
  readonly faults: readonly YamlFault[];
  /** Undefined where something does not fit the schema. */
  readonly value: Value | undefined;
  /** The whole file as plain values, and where they do not fit the schema. */
  readonly plain: unknown;
  readonly misfits: readonly YamlPath[];
}

/** Throws `usage` where the text is no YAML at all. */
export function checkYamlFile<Value>(text: string, schema: Schema<Value>, source: Source): CheckedYaml<Value> {
  const { more = [], asWritten = true } = source;
  const { faults, root } = yamlTree(text);
  if (root === undefined) throw faultyFile([...faults, ...more], source);
  const plain = plainOf(root, asWritten);
  const { issues = [], output, success } = v.safeParse(schema, plain);
  const isNew = (one: YamlFault) => !faults.some(({ line, column }) => line === one.line && column === one.column);
  const found = issues.flatMap(issue => faultOf(issue, root)).filter(isNew);
  const misfits = issues.map(({ path = [] }) => path.map(({ key }) => key as string | number));
  return { root, plain, misfits, faults: [...faults, ...found, ...more], value: success ? output : undefined };
}

/** The value of a file. Throws `usage` with every fault of it. */
export function readYamlFile<Value>(
  text: string,
  schema: Schema<Value>,
  source: Source,
): { value: Value; root: YamlNode } {
  const { faults, value, root } = checkYamlFile(text, schema, source);
  if (faults.length > 0) throw faultyFile(faults, source);
  return { value: value as Value, root };
}

function faultOf(issue: v.BaseIssue<unknown>, root: YamlNode, above: YamlPath = []): readonly YamlFault[] {
  const items = issue.path ?? [];
  const path = [...above, ...items.map(({ key }) => key as string | number)];
  // Of forms that a value may have, the one that was begun says what is wrong with it.
  const begun = (issue.issues ?? []).filter(each => each.path !== undefined);
  if (issue.type === 'union' && begun.length > 0) return begun.flatMap(each => faultOf(each, root, path));
  const last = items.at(-1);
  const name = pathText(path);
  if (issue.type === 'never')
    return [{ ...placeIn(root, path, true), text: `${name} ${notKnown(String(last?.key), issue.message.split(' '))}` }];
  const isMissing =
    ['object_with_rest', 'loose_object'].includes(issue.type) && issue.received === 'undefined' && last !== undefined;
  const text = isMissing ? 'is missing' : issue.message;
  const ofKey = last !== undefined && 'origin' in last && last.origin === 'key';
  return [
    {
      ...placeIn(root, path, ofKey),
      text: name === '' ? text : `${name}${/^(?:is|has) /.test(text) ? '' : ':'} ${text}`,
    },
  ];
}

/** What is said of a word that is none of those that are known. */
export function notKnown(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return `is not known here${near === undefined ? `; known: ${known.join(', ')}` : `; did you mean ${near}?`}`;
}

/** `rules[0].when.balance`. */
function pathText(path: YamlPath): string {
  return path
    .map(step => (typeof step === 'number' ? `[${step}]` : `.${shown(step)}`))
    .join('')
    .replace(/^\./, '');
}

// Parts of schemas

/** The version of each form. */
export const VERSION = v.pipe(v.literal('1', 'must be 1'), v.metadata({ json: { const: 1 } }));

/** The library takes a list for an object; in a file it is no map. */
function notOfLists<S extends v.GenericSchema>(schema: S): S {
  const run: S['~run'] = (dataset, config) =>
    schema['~run'](Array.isArray(dataset.value) ? { value: undefined } : dataset, config);
  return { ...schema, '~run': run };
}

/** A map of these members and no others. */
export function members<Entries extends v.ObjectEntries>(entries: Entries): v.ObjectSchema<Entries, undefined> {
  const names = Object.keys(entries);
  const others = v.never(names.join(' '));
  return notOfLists(v.objectWithRest(entries, others, `must be a map of ${names.join(', ')}`)) as never;
}

/** A map by names of the user. */
export function byName<Name extends Schema<string>, Item extends v.GenericSchema>(name: Name, item: Item) {
  return notOfLists(v.record(name as v.GenericSchema<string, string>, item, 'must be a map'));
}

export const listOf = <Item extends v.GenericSchema>(item: Item) => v.array(item, 'must be a list: [one, two]');

/** A map whose keys a function reads: it tells of each what is wrong, `ofKey` where that is the key itself. */
export function mapAs<Value>(
  words: string,
  read: (map: Readonly<Record<string, unknown>>, fault: (key: string, text: string, ofKey?: boolean) => void) => Value,
) {
  return v.pipe(
    notOfLists(v.record(v.string(), v.unknown(), words)),
    v.rawTransform<Record<string, unknown>, Value>(({ dataset, addIssue }) => {
      const input = dataset.value;
      return read(input, (key, message, ofKey = false) => {
        addIssue({
          message,
          path: [{ type: 'object', origin: ofKey ? 'key' : 'value', input, key, value: input[key] }],
        });
      });
    }),
  );
}

/** Text of one line. A number or a truth is the text that stands there. */
export const TEXT = v.pipe(
  v.string('must be text'),
  v.check(text => !/[\x00-\x1f\x7f-\x9f]/.test(text), 'must be text without control characters'),
);

export const choiceOf = <const Choices extends readonly string[]>(choices: Choices) =>
  v.picklist(choices, `must be one of ${choices.join(', ')}`);

/**
 * A text that a function reads; undefined is a fault with these words. `json` is what editors are told of it, as JSON Schema: a number
 * may stand there without quotes.
 */
export function readAs<Value>(read: (written: string) => Value | undefined, words: string, json: object) {
  return v.pipe(
    v.string(words),
    v.metadata({ json }),
    v.rawTransform<string, Value>(({ dataset, addIssue, NEVER }) => {
      const value = read(dataset.value);
      if (value !== undefined) return value;
      addIssue({ message: `${words}, not ${shown(dataset.value)}` });
      return NEVER;
    }),
  );
}

export function yes(description: string) {
  const words = new Map([
    ['true', true],
    ['false', false],
  ]);
  return readAs(written => words.get(written), 'must be true or false', { type: 'boolean', description });
}

export function wholeNumber(minimum: number, maximum: number, description: string) {
  const read = (written: string) => {
    const value = /^\d{1,9}$/.test(written) ? Number(written) : Number.NaN;
    return value >= minimum && value <= maximum ? value : undefined;
  };
  const words = `must be a whole number from ${minimum} to ${maximum}`;
  return readAs(read, words, { type: 'integer', minimum, maximum, description });
}

/** An amount in USD as it is written, as cents; `min` and `max` in cents. */
export function usd(description: string, { min = 0, max }: { readonly min?: number; readonly max?: number } = {}) {
  const above = min > 0 ? ' above 0' : '';
  const bounds = max === undefined ? above : ` from ${plainAmount(cents(min))} to ${plainAmount(cents(max))}`;
  const read = (written: string) => {
    const amount = parseAmount(written);
    return amount === undefined || amount < min || amount > (max ?? amount) ? undefined : amount;
  };
  return readAs(read, `must be an amount in USD${bounds}, such as 20.00`, {
    anyOf: [
      { type: 'number', minimum: min / 100, ...(max !== undefined && { maximum: max / 100 }) },
      { type: 'string', pattern: '^[0-9]{1,13}(\\.[0-9]{1,2})?$' },
    ],
    description: `${description} USD${bounds}.`,
  });
}
