/** Results as JSON and YAML documents. */
import { printableJson } from './printable.ts';

/** One JSON document, indented by two. What could act on a terminal is a `\u` escape: a pipe may end on one. */
export function jsonDocument(value: unknown): string {
  return printableJson(`${JSON.stringify(value, undefined, 2) ?? 'null'}\n`);
}

/** One object a line, with the same escapes. */
export function jsonLines(values: readonly unknown[]): string {
  const text = values.map(value => `${JSON.stringify(value)}\n`).join('');
  // Of ASCII only DEL is no escape in JSON yet. Counting bytes takes a twentieth of a pattern's time.
  const isPlain = Buffer.byteLength(text) === text.length && !text.includes('\x7f');
  return isPlain ? text : printableJson(text);
}

// YAML that readers of 1.1 and of 1.2 take for the same value. Text is bare only where no reader can take it for anything else.

/** Words, numbers in them and a few signs; nothing that a reader gives a meaning to at the beginning or in between. */
const BARE = /^\p{L}(?:[\p{L}\p{N} _./@+-]*[\p{L}\p{N}_./@+-])?$/u;
/** Other values of YAML 1.1 or 1.2 than text. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
/** Controls, separators, what is not seen, and what is no character: PyYAML refuses the document for some of them. */
const ESCAPED = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;
/** YAML looks no farther than 1,024 characters for the colon behind a key. */
const LONGEST_KEY = 1_000;
const STEP = '  ';

/** One YAML document, with a newline at its end. Members that are undefined are left out, as in JSON. */
export function yamlDocument(value: unknown): string {
  return `${node(value, '').replace(/^\s/, '')}\n`;
}

/** What follows `key:` or `-`: a blank and a scalar, or a newline and a block below. */
function node(value: unknown, indent: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []';
    return value.map(item => `\n${indent}-${afterDash(item, indent + STEP)}`).join('');
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, item]) => item !== undefined);
    if (members.length === 0) return ' {}';
    return members.map(([key, item]) => `\n${indent}${named(key, indent)}${node(item, indent + STEP)}`).join('');
  }
  return ` ${scalar(value)}`;
}

/** A value in the line of its dash: the first member of a map stands beside it. */
function afterDash(item: unknown, indent: string): string {
  const text = node(item, indent);
  return text.startsWith('\n') ? ` ${text.slice(1 + indent.length)}` : text;
}

function named(key: string, indent: string): string {
  const text = quoted(key);
  return text.length > LONGEST_KEY ? `? ${text}\n${indent}:` : `${text}:`;
}

function scalar(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  const text = JSON.stringify(value) ?? 'null';
  // YAML 1.1 knows no number with an exponent and without a point.
  return typeof value === 'number' ? text.replace(/^(-?\d+)e/, '$1.0e') : text;
}

function quoted(text: string): string {
  const isBare = BARE.test(text) && !RESERVED.test(text) && text.search(ESCAPED) < 0;
  return isBare ? text : JSON.stringify(text).replace(ESCAPED, escaped);
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}
