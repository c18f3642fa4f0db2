/** YAML as it was read, every node with its place in the file; lines and columns from 1. */

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
    | { readonly kind: 'value'; readonly value: string | number | boolean | null }
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
