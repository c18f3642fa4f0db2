/**
 * Plain YAML read line by line, many times as fast as the library: maps by indentation, maps and lists in one line, numbers,
 * words and quoted text without escapes. Anything else is left to the library (`yaml-text.ts`).
 */
import type { YamlEntry, YamlNode, YamlPosition } from './yaml-tree.ts';

/** What means something to YAML elsewhere: tabs, carriage returns, controls, odd blanks and line ends. */
const UNUSUAL = /[^\n\x20-\x7e\u00a1-\u1fff\u2030-\ufdff]/;
const KEY = /([A-Za-z_][A-Za-z0-9_-]*):(?=[ \n]|$)/y;
const DOUBLE = /"([^"\\\n]*)"/y;
const SINGLE = /'([^'\n]*)'(?!')/y;
const WORDS = /[A-Za-z0-9][A-Za-z0-9_./@+-]*(?: +[A-Za-z0-9_./@+-]+)*/y;
const NUMBER = /^[0-9]{1,15}(?:\.[0-9]{1,15})?$/;
const DATE_OR_DAYS = /^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,6}d)$/;
const MEANT: ReadonlyMap<string, boolean | null> = new Map([
  ...['true', 'True', 'TRUE'].map(word => [word, true] as const),
  ...['false', 'False', 'FALSE'].map(word => [word, false] as const),
  ...['null', 'Null', 'NULL'].map(word => [word, null] as const),
]);
const DEEPEST = 20;

/**
 * The tree that the library would make, node by node with its place; undefined for a text that is not that plain, a faulty one
 * too. A key that stands twice is no fault here.
 */
export function readPlainYaml(text: string): YamlNode | undefined {
  return UNUSUAL.test(text) ? undefined : new PlainReader(text).read();
}

interface OpenMap {
  readonly indent: number;
  readonly entries: YamlEntry[];
}

/** A key whose value, if any, stands in the lines below. */
interface Waiting extends YamlPosition {
  readonly name: string;
  readonly map: OpenMap;
  /** Where its value would begin, and where nothing stands if no line below belongs to it. */
  readonly behind: number;
}

class PlainReader {
  readonly #text: string;
  /** Where the line that is read begins, and its number. */
  #start = 0;
  #line = 0;
  /** Where reading goes on. */
  #at = 0;
  #open: OpenMap[] = [];
  #waiting: Waiting | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  read(): YamlNode | undefined {
    const text = this.#text;
    let root: YamlNode | undefined;
    for (let start = 0; start < text.length; ) {
      const found = text.indexOf('\n', start);
      const end = found === -1 ? text.length : found;
      this.#line += 1;
      this.#start = start;
      this.#at = start;
      this.#skipBlanks();
      if (this.#at < end && text[this.#at] !== '#') {
        const indent = this.#at - start;
        if (root === undefined) {
          const map = { indent, entries: [] };
          root = { kind: 'map', ...this.#place(), entries: map.entries };
          this.#open = [map];
          if (indent > 0) return undefined;
        }
        if (!this.#readLine(indent)) return undefined;
      }
      start = end + 1;
    }
    this.#endWaiting();
    return root;
  }

  /** False where the line is not plain. */
  #readLine(indent: number): boolean {
    const map = this.#mapAt(indent);
    if (map === undefined) return false;
    const place = this.#place();
    const name = this.#key();
    if (name === undefined) return false;
    this.#skipBlanks();
    if (this.#isOver()) {
      this.#waiting = { name, ...place, map, behind: this.#place().column };
      return true;
    }
    const node = this.#value(1);
    if (node === undefined) return false;
    map.entries.push({ name, ...place, node });
    const last = this.#at;
    this.#skipBlanks();
    // A comment has a blank before it.
    return this.#isOver() && (this.#text[this.#at] !== '#' || this.#at > last);
  }

  /** The map that a line of that indentation goes on with, or begins; undefined where it is neither. */
  #mapAt(indent: number): OpenMap | undefined {
    const waiting = this.#waiting;
    if (waiting !== undefined && indent > waiting.map.indent) {
      if (this.#open.length >= DEEPEST) return undefined;
      const map: OpenMap = { indent, entries: [] };
      const { name, line, column } = waiting;
      waiting.map.entries.push({ name, line, column, node: { kind: 'map', ...this.#place(), entries: map.entries } });
      this.#waiting = undefined;
      this.#open.push(map);
      return map;
    }
    this.#endWaiting();
    while ((this.#open.at(-1)?.indent ?? 0) > indent) this.#open.pop();
    const map = this.#open.at(-1);
    return map?.indent === indent ? map : undefined;
  }

  /** Nothing stood below the key. */
  #endWaiting(): void {
    if (this.#waiting === undefined) return;
    const { name, line, column, map, behind } = this.#waiting;
    const node: YamlNode = { kind: 'value', line, column: behind, value: null, written: '', quoted: false };
    map.entries.push({ name, line, column, node });
    this.#waiting = undefined;
  }

  #place(): YamlPosition {
    return { line: this.#line, column: this.#at - this.#start + 1 };
  }

  #skipBlanks(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1;
  }

  #isOver(): boolean {
    const next = this.#text[this.#at];
    return next === undefined || next === '\n' || next === '#';
  }

  #key(): string | undefined {
    const name = this.#match(KEY);
    return name === undefined || MEANT.has(name) ? undefined : name;
  }

  /** Of a sticky expression: its group, else all of it; reading goes on behind it. */
  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.#at = pattern.lastIndex;
    return found[1] ?? found[0];
  }

  #value(depth: number): YamlNode | undefined {
    const next = this.#text[this.#at];
    if (depth > DEEPEST) return undefined;
    if (next === '{') return this.#map(depth);
    if (next === '[') return this.#list(depth);
    return this.#scalar(next);
  }

  #scalar(next: string | undefined): YamlNode | undefined {
    const place = this.#place();
    if (next === '"' || next === "'") {
      const value = this.#match(next === '"' ? DOUBLE : SINGLE);
      return value === undefined ? undefined : { kind: 'value', ...place, value, written: value, quoted: true };
    }
    const written = this.#match(WORDS);
    if (written === undefined) return undefined;
    const value = meantBy(written);
    return value === undefined ? undefined : { kind: 'value', ...place, value, written, quoted: false };
  }

  #map(depth: number): YamlNode | undefined {
    const place = this.#place();
    const entries: YamlEntry[] = [];
    const isRead = this.#items('}', () => {
      const at = this.#place();
      const name = this.#key();
      this.#skipBlanks();
      const node = name === undefined ? undefined : this.#value(depth + 1);
      if (name === undefined || node === undefined) return false;
      entries.push({ name, ...at, node });
      return true;
    });
    return isRead ? { kind: 'map', ...place, entries } : undefined;
  }

  #list(depth: number): YamlNode | undefined {
    const place = this.#place();
    const items: YamlNode[] = [];
    const isRead = this.#items(']', () => {
      const node = this.#value(depth + 1);
      if (node !== undefined) items.push(node);
      return node !== undefined;
    });
    return isRead ? { kind: 'list', ...place, items } : undefined;
  }

  /** What stands between brackets, commas between. */
  #items(close: string, read: () => boolean): boolean {
    const text = this.#text;
    this.#at += 1;
    this.#skipBlanks();
    if (text[this.#at] !== close) {
      for (;;) {
        if (!read()) return false;
        this.#skipBlanks();
        if (text[this.#at] !== ',') break;
        this.#at += 1;
        this.#skipBlanks();
      }
    }
    if (text[this.#at] !== close) return false;
    this.#at += 1;
    return true;
  }
}

/** The value of a plain scalar in the core schema; undefined for what only the library should judge. */
function meantBy(written: string): string | number | boolean | null | undefined {
  const word = MEANT.get(written);
  if (word !== undefined) return word;
  if (!/^[0-9]/.test(written)) return written;
  if (NUMBER.test(written)) return Number(written);
  return DATE_OR_DAYS.test(written) ? written : undefined;
}
