/** Results as JSON. */
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
