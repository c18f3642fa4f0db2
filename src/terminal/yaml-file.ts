/**
 * Files in YAML: read whole against a schema, every fault with its line and column. Home of `yaml` and of `valibot`; it is
 * loaded by the commands that read such a file.
 */
import * as v from 'valibot';
import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml';
import { type CliError, notSent } from '../core/errors.ts';
import { cents, parseAmount, plainAmount } from '../core/money.ts';
import { nearest } from '../core/nearest.ts';

export { v };

// The tree of a file, and where things stand in it, from 1

export interface YamlPosition {
  readonly line: number;
  readonly column: number;
}

export interface YamlFault extends YamlPosition {
  readonly text: string;
}

/** A text that is YAML, as the library holds it. */
export type YamlTree = Omit<ReturnType<typeof yamlTree>, 'faults'>;

const DEEPEST = 24;
/** What every object of JavaScript has: the library skips them, and nothing of a file is skipped. */
export const NO_KEYS: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);

const IN_OUR_WORDS: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'tabs may not indent',
  MULTIPLE_DOCS: 'a second document begins here; a file holds one: write it into a file of its own, without ---',
};

/**
 * Only what JSON could hold is taken: no aliases, no tags, one document, text for keys, each once. With `asWritten`, numbers and
 * truths are the text that stands there: `25.00`, `0742`.
 */
function yamlTree(text: string, asWritten: boolean) {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    version: '1.2',
    ...(asWritten ? { schema: 'failsafe', customTags: tags => [...tags, 'null'] } : { schema: 'core' }),
    // The library compares each key with all others of its map; below they are compared in a set.
    uniqueKeys: false,
  });
  const faults: YamlFault[] = [];
  const fault = (at: number, what: string) => faults.push({ ...positionOf(lines, at), text: what });
  for (const { code, message, pos } of document.errors)
    fault(pos[0], IN_OUR_WORDS[code] ?? message.replace(/\s+/g, ' ').trim());
  visit(document, {
    Node(_, node, path) {
      const at = node.range?.[0] ?? 0;
      if (isAlias(node)) fault(at, 'an alias means nothing here: write it out');
      else if (path.filter(isCollection).length > DEEPEST) fault(at, `nested more than ${DEEPEST} levels deep`);
      else {
        if (node.tag !== undefined) fault(at, `a tag (${node.tag}) means nothing here`);
        if (isMap(node)) checkKeys(node, at);
        return undefined;
      }
      return visit.REMOVE;
    },
  });
  function checkKeys(map: YAMLMap, at: number): void {
    const seen = new Map<string, Pair>();
    for (const pair of [...map.items]) {
      const [name, place] = isScalar(pair.key) ? [pair.key.value, pair.key.range?.[0] ?? at] : [undefined, at];
      const first = seen.get(String(name));
      if (typeof name !== 'string') fault(at, 'a key must be text');
      else if (NO_KEYS.has(name)) fault(place, `${name} can be no key`);
      else if (first !== undefined) {
        const { line } = positionOf(lines, (first.key as Scalar).range?.[0] ?? at);
        fault(place, `"${shown(name)}" stands twice, first at line ${line}`);
        map.items.splice(map.items.indexOf(first), 1);
      }
      seen.set(String(name), pair);
    }
  }
  return { document, lines, faults };
}

function positionOf(lines: LineCounter, at: number): YamlPosition {
  const { line, col } = lines.linePos(at);
  return { line, column: col };
}

/** From the root inwards: names of members and places in lists. */
export type YamlPath = readonly (string | number)[];

/** Where a value stands, or with `ofKey` its key; undefined where nothing stands. */
export function placeIfThere({ document, lines }: YamlTree, path: YamlPath, ofKey = false): YamlPosition | undefined {
  const above = ofKey ? document.getIn(path.slice(0, -1), true) : undefined;
  const pair = isMap(above) ? above.items.find(({ key }) => isScalar(key) && key.value === path.at(-1)) : undefined;
  const found = pair === undefined ? document.getIn(path, true) : pair.key;
  return isNode(found) ? positionOf(lines, found.range?.[0] ?? 0) : undefined;
}

/** Where nothing stands, the place of what it would stand in. */
export function placeIn(tree: YamlTree, path: YamlPath, ofKey = false): YamlPosition {
  const found = placeIfThere(tree, path, ofKey);
  if (found !== undefined) return found;
  return path.length === 0 ? { line: 1, column: 1 } : placeIn(tree, path.slice(0, -1));
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

/**
 * A file with all that is wrong in it: its value, undefined where something does not fit the schema, the whole of it as plain values,
 * and where those do not fit. Throws `usage` where the text is no YAML at all.
 */
export function checkYamlFile<Value>(text: string, schema: Schema<Value>, source: Source) {
  const { more = [], asWritten = true } = source;
  const { faults, ...root } = yamlTree(text, asWritten);
  if (root.document.errors.length > 0) throw faultyFile([...faults, ...more], source);
  const plain: unknown = root.document.toJS();
  const { issues = [], output, success } = v.safeParse(schema, plain);
  const misfits: readonly YamlPath[] = issues.map(({ path = [] }) => path.map(({ key }) => key as string | number));
  const isNew = (one: YamlFault) => !faults.some(({ line, column }) => line === one.line && column === one.column);
  const found = issues.flatMap(issue => faultOf(issue, root)).filter(isNew);
  return { root, plain, misfits, faults: [...faults, ...found, ...more], value: success ? output : undefined };
}

/** The value of a file. Throws `usage` with every fault of it. */
export function readYamlFile<Value>(
  text: string,
  schema: Schema<Value>,
  source: Source,
): { value: Value; root: YamlTree } {
  const { faults, value, root } = checkYamlFile(text, schema, source);
  if (faults.length > 0) throw faultyFile(faults, source);
  return { value: value as Value, root };
}

function faultOf(issue: v.BaseIssue<unknown>, root: YamlTree, above: YamlPath = []): readonly YamlFault[] {
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
  const read = (written: string) => (['true', 'false'].includes(written) ? written === 'true' : undefined);
  return readAs(read, 'must be true or false', { type: 'boolean', description });
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
