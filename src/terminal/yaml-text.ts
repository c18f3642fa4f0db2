/**
 * Home of yaml. The imports are static here and this file is loaded when YAML is to be read: the bundler gives a
 * CommonJS package its named exports only when they are imported statically.
 */
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Scalar } from 'yaml';
import type { YamlFault, YamlNode, YamlText } from './yaml-tree.ts';

const DEEPEST = 24;

/**
 * Reads YAML into a tree whose every node knows its line and column. Only what JSON could hold is taken: no aliases,
 * no tags, one document, text for keys; without `uniqueKeys` whoever reads the tree tells of a key that stands twice. What is wrong is listed, in order, and then there is no tree.
 */
export function readYaml(text: string, { uniqueKeys = true } = {}): YamlText {
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
  for (const error of document.errors) fault(error.pos[0], faultText(error));
  if (faults.length > 0) return { faults };
  const read = (node: unknown, at: number, depth: number): YamlNode => {
    const { range, tag } = (node ?? {}) as { range?: readonly number[] | null; tag?: string };
    const start = range?.[0] ?? at;
    const { line, col } = lines.linePos(start);
    const place = { line, column: col };
    if (depth > DEEPEST) fault(start, `nested more than ${DEEPEST} levels deep`);
    else if (tag !== undefined) fault(start, `a tag (${tag}) means nothing here`);
    else if (isMap(node)) {
      const names = new Set<string>();
      const entries = node.items.map(({ key, value }) => {
        const name = read(key, start, depth + 1);
        if (name.kind !== 'value' || typeof name.value !== 'string') fault(start, 'a key must be text');
        const shown = name.kind === 'value' ? String(name.value) : '';
        if (uniqueKeys && names.has(shown))
          faults.push({ line: name.line, column: name.column, text: 'Map keys must be unique' });
        names.add(shown);
        return { name: shown, line: name.line, column: name.column, node: read(value, start, depth + 1) };
      });
      return { kind: 'map', ...place, entries };
    } else if (isSeq(node)) {
      return { kind: 'list', ...place, items: node.items.map(item => read(item, start, depth + 1)) };
    } else if (isScalar(node)) return { kind: 'value', ...place, ...scalarOf(node) };
    else if (node !== null && node !== undefined) fault(start, 'an alias means nothing here: write it out');
    return { kind: 'value', ...place, ...NOTHING };
  };
  const root = read(document.contents, 0, 0);
  return faults.length > 0 ? { faults } : { faults, root };
}

type Value = Omit<Extract<YamlNode, { kind: 'value' }>, 'kind' | 'line' | 'column'>;

const NOTHING: Value = { value: null, written: '', quoted: false };

function scalarOf({ value, source, type }: Scalar): Value {
  const quoted = type !== undefined && type !== 'PLAIN';
  const scalar = { written: source ?? '', quoted };
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return { value, ...scalar };
  return value === null || value === undefined ? { ...scalar, value: null } : { ...scalar, value: String(value) };
}

/** In our words where theirs say less. */
function faultText({ code, message }: { readonly code: string; readonly message: string }): string {
  if (code === 'TAB_AS_INDENT') return 'tabs may not indent';
  if (code === 'MULTIPLE_DOCS')
    return 'a second document begins here; a file holds one: write it into a file of its own, without ---';
  return message.replace(/\s+/g, ' ').trim();
}
