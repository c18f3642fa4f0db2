/** Results as JSON and YAML documents. */
import { printableJson } from './printable.ts';

/** One JSON document, indented by two. What could act on a terminal is a `\u` escape: a pipe may end on one. */
export function jsonDocument(value: unknown): string {
  return printableJson(`${JSON.stringify(value, undefined, 2) ?? 'null'}\n`);
}

/** One object a line, with the same escapes. */
export function jsonLines(values: readonly unknown[]): string {
  return printableJson(values.map(value => `${JSON.stringify(value)}\n`).join(''));
}

/** One YAML document. */
export async function yamlDocument(value: unknown): Promise<string> {
  const { yamlText } = await import('./yaml-writer.ts');
  return yamlText(value);
}
