/** Results as JSON and YAML documents. */
import { printableJson } from './printable.ts';

export interface DocumentTarget {
  /** On a terminal control characters inside strings become `\u` escapes; into a pipe bytes stay. */
  readonly terminal: boolean;
}

/** One JSON document, indented by two. */
export function jsonDocument(value: unknown, { terminal }: DocumentTarget): string {
  const text = `${JSON.stringify(value, undefined, 2) ?? 'null'}\n`;
  return terminal ? printableJson(text) : text;
}

/** One object a line. */
export function jsonLines(values: readonly unknown[], { terminal }: DocumentTarget): string {
  const text = values.map(value => `${JSON.stringify(value)}\n`).join('');
  return terminal ? printableJson(text) : text;
}

/** One YAML document. */
export async function yamlDocument(value: unknown): Promise<string> {
  const { yamlText } = await import('./yaml-writer.ts');
  return yamlText(value);
}
