/** YAML as it was read, every node with its place in the file; lines and columns from 1. */
import { type CliError, notSent } from '../core/errors.ts';

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
        readonly quoted: boolean;
      }
    | { readonly kind: 'list'; readonly items: readonly YamlNode[] }
    | { readonly kind: 'map'; readonly entries: readonly YamlEntry[] }
  );

export interface YamlFault extends YamlPosition {
  readonly text: string;
}

export interface YamlText {
  readonly faults: readonly YamlFault[];
  /** Missing when there are faults. */
  readonly root?: YamlNode;
}

/** The JSON value of a node. */
export function plainOf(node: YamlNode): unknown {
  if (node.kind === 'value') return node.value;
  if (node.kind === 'list') return node.items.map(plainOf);
  return Object.fromEntries(node.entries.map(({ name, node: value }) => [name, plainOf(value)]));
}

const MOST_SHOWN = 19;
/** Faults of the JSON error. */
const MOST_KEPT = 200;

/** `usage` with every fault of a file in the order of its lines; `file` is what the user called it. Nothing was sent. */
export function faultyFile(
  faults: readonly YamlFault[],
  { file, hint }: { readonly file: string; readonly hint: string },
): CliError {
  const sorted = [...faults].sort((a, b) => a.line - b.line || a.column - b.column);
  const [first, ...others] = sorted.map(({ line, column, text }) => `${file}:${line}:${column}: ${text}`);
  const left = others.length - MOST_SHOWN;
  return notSent('usage', first ?? `${file} is empty`, {
    notes: [...others.slice(0, MOST_SHOWN), ...(left > 0 ? [`and ${left} more`] : [])],
    hint,
    faults: sorted.slice(0, MOST_KEPT).map(({ line, column, text }) => ({ file, line, column, text })),
  });
}
