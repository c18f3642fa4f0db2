/** Cards put into a fleet file as text: no other byte of it changes, so comments and layout stay as they are. */
import { CliError } from '../core/errors.ts';
import { type Cents, plainAmount } from '../core/money.ts';
import { NO_KEYS, type YamlEntry, type YamlNode } from '../terminal/yaml-file.ts';

/** What is written of one card. */
export interface NewEntry {
  readonly name: string;
  /** Undefined for a card that its marker tells. */
  readonly card: string | undefined;
  readonly amount?: Cents | undefined;
  readonly label?: string | undefined;
  readonly limit?: Cents | undefined;
  readonly categories?: readonly string[] | undefined;
  readonly autoFreezeAt?: Cents | null | undefined;
  readonly owner?: string | undefined;
  readonly team?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly state?: 'active' | 'frozen' | undefined;
}

/** `search: {card: card_1, label: "ads", limit: 500.00}`. */
export function entryText(entry: NewEntry): string {
  const { name, card, amount, label, limit, categories, autoFreezeAt, owner, team, metadata = {}, state } = entry;
  const pairs = Object.entries(metadata).map(([key, value]) => `${plainOrQuoted(key)}: ${quoted(value)}`);
  const fields = [
    ...(card === undefined ? [] : [`card: ${plainOrQuoted(card)}`]),
    ...(amount === undefined ? [] : [`amount: ${plainAmount(amount)}`]),
    ...(label === undefined ? [] : [`label: ${quoted(label)}`]),
    ...(limit === undefined ? [] : [`limit: ${plainAmount(limit)}`]),
    ...(categories === undefined ? [] : [`categories: [${categories.map(quoted).join(', ')}]`]),
    ...(autoFreezeAt === undefined
      ? []
      : [`auto_freeze_at: ${autoFreezeAt === null ? 'null' : plainAmount(autoFreezeAt)}`]),
    ...(owner === undefined ? [] : [`owner: ${quoted(owner)}`]),
    ...(team === undefined ? [] : [`team: ${quoted(team)}`]),
    ...(pairs.length === 0 ? [] : [`metadata: {${pairs.join(', ')}}`]),
    ...(state === undefined ? [] : [`state: ${state}`]),
  ];
  return `${plainOrQuoted(name)}: {${fields.join(', ')}}`;
}

const WORDS_OF_YAML = new Set(['true', 'false', 'null']);

/** YAML takes `2` and `1e3` for numbers, and some words for truths; all others that begin with a letter are text. */
function plainOrQuoted(text: string): string {
  return /^[a-z]/i.test(text) && !WORDS_OF_YAML.has(text.toLowerCase()) ? text : quoted(text);
}

/** A JSON string is one of YAML; braces of a label would be filled in, and stand for nothing here. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

const LINE = /\r\n|\n|\r/;

/** The file with these entries at the end of its `cards:`. Throws `usage` for a form it cannot be put into. */
export function withEntries(text: string, root: YamlNode, entries: readonly NewEntry[]): string {
  if (entries.length === 0) return text;
  const newline = LINE.exec(text)?.[0] ?? '\n';
  const cards = root.kind === 'map' ? root.entries.find(({ name }) => name === 'cards') : undefined;
  if (root.kind !== 'map' || isFlow(text, root)) throw byHand(entries);
  const lines = linesOf(text);
  if (cards === undefined) {
    const written = ['cards:', ...entries.map(entry => `  ${entryText(entry)}`)];
    return insertedAt(text, { at: text.length, written, newline });
  }
  if (cards.node.kind === 'map' && cards.node.entries.length > 0 && !isFlow(text, cards.node)) {
    const [first] = cards.node.entries;
    const indent = ' '.repeat((first?.column ?? 3) - 1);
    const written = entries.map(entry => `${indent}${entryText(entry)}`);
    return insertedAt(text, { at: endOfBlock(lines, root.entries, cards), written, newline });
  }
  if (!isEmpty(cards.node) || isFlow(text, cards.node)) throw byHand(entries);
  const at = lines[cards.line - 1]?.end ?? text.length;
  return insertedAt(text, { at, written: entries.map(entry => `  ${entryText(entry)}`), newline });
}

function isEmpty(node: YamlNode): boolean {
  return node.kind === 'value' && node.value === null && node.written === '';
}

function isFlow(text: string, node: YamlNode): boolean {
  return text[offsetOf(linesOf(text), node)] === '{';
}

interface Line {
  readonly start: number;
  /** Behind its line end. */
  readonly end: number;
  readonly text: string;
}

function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  const pattern = /\r\n|\n|\r/g;
  let start = 0;
  for (const found of text.matchAll(pattern)) {
    const end = found.index + found[0].length;
    lines.push({ start, end, text: text.slice(start, found.index) });
    start = end;
  }
  lines.push({ start, end: text.length, text: text.slice(start) });
  return lines;
}

function offsetOf(
  lines: readonly Line[],
  { line, column }: { readonly line: number; readonly column: number },
): number {
  return (lines[line - 1]?.start ?? 0) + column - 1;
}

/** Behind the last line of the block that says something: comments below it belong to what follows. */
function endOfBlock(lines: readonly Line[], top: readonly YamlEntry[], cards: YamlEntry): number {
  const next = top.map(({ line }) => line).filter(line => line > cards.line);
  const until = Math.min(lines.length + 1, ...next);
  for (let line = until - 1; line > cards.line; line -= 1) {
    const content = lines[line - 1]?.text.trim() ?? '';
    if (content !== '' && !content.startsWith('#') && content !== '...') return lines[line - 1]?.end ?? 0;
  }
  return lines[cards.line - 1]?.end ?? 0;
}

interface Insertion {
  readonly at: number;
  readonly written: readonly string[];
  readonly newline: string;
}

/** A last line without a line end gets none either. */
function insertedAt(text: string, { at, written, newline }: Insertion): string {
  const [before, after] = [text.slice(0, at), text.slice(at)];
  const body = written.join(newline);
  const isOpen = before !== '' && !/[\n\r]$/.test(before);
  return isOpen ? `${before}${newline}${body}${after}` : `${before}${body}${newline}${after}`;
}

function byHand(entries: readonly NewEntry[]): CliError {
  return new CliError('usage', {
    message: 'cards of this file are written in braces; nothing was changed',
    notes: ['Put these lines into it by hand:', ...entries.map(entry => `  ${entryText(entry)}`)],
    hint: 'cardwright fleet validate',
    outcome: 'not_sent',
  });
}

/** A name for a card by its label: `ads: search` is `ads-search`; never one of those taken, or one that can be no key. */
export function nameFor(label: string, last4: string, taken: ReadonlySet<string>): string {
  const plain = label
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 36)
    .replace(/-+$/, '');
  const base = plain === '' ? `card-${last4.replace(/\D/g, '') || 'new'}` : plain;
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? base : `${base}-${count}`;
    if (!taken.has(name) && !NO_KEYS.has(name)) return name;
  }
}

/** Room of the cap of a new file, and the step in which it grows with the cards that are adopted. */
const ROOM = 100;

/** A new file for so many cards: nothing is spent until a person raises `per_apply`, and the cap of cards has room for one. */
export function starterText(fleet: string, adopted = 0): string {
  const most = String((Math.floor(adopted / ROOM) + 1) * ROOM);
  return `# Which cards ${fleet} has. cardwright fleet plan shows how the account differs, cardwright fleet apply changes it.
# The form: cardwright fleet validate --schema
version: 1
fleet: ${fleet}
caps:
  per_apply: 0.00        # most that one apply takes from the wallet; raise it when cards are to be made
  cards: ${most.padEnd(15)} # most cards of this fleet
defaults: {bin: auto, amount: 25.00}
# templates:
#   ads: {limit: 500.00, categories: [advertising], auto_freeze_at: 5.00}
cards:
`;
}
