/**
 * One line of NDJSON: an object, strictly read, with the column of every member. A name that stands twice is a fault,
 * for `JSON.parse` would take the last and say nothing.
 */
import { pointsIn } from './position.ts';

export interface JsonMember {
  readonly value: unknown;
  /** Of the value, from 1, in code points. */
  readonly column: number;
}

export type JsonLine =
  | { readonly members: ReadonlyMap<string, JsonMember>; readonly fault?: undefined }
  | { readonly members?: undefined; readonly fault: LineFault };

export interface LineFault {
  readonly column: number;
  readonly text: string;
  /** The line ended where more was expected. */
  readonly unfinished: boolean;
}

/** Objects in objects: metadata is the only one, and nothing needs more. */
const DEEPEST = 4;
const SPACE = /[ \t\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const WORD = /true|false|null/y;
const WORDS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };

class Unreadable extends Error {
  readonly at: number;
  constructor(at: number, text: string) {
    super(text);
    this.at = at;
  }
}

/** Never throws. */
export function readJsonLine(line: string): JsonLine {
  const column = (at: number) => pointsIn(line.slice(0, at)) + 1;
  try {
    const begin = skip(line, 0);
    if (line[begin] === '[') throw new Unreadable(begin, 'a list; NDJSON has one object a line');
    if (line[begin] !== '{') throw new Unreadable(begin, 'not a JSON object');
    const { members, end } = readObject(line, begin, 1);
    const rest = skip(line, end);
    if (rest < line.length) throw new Unreadable(rest, 'there is text after the object');
    return { members: new Map([...members].map(([name, { value, at }]) => [name, { value, column: column(at) }])) };
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    return {
      fault: { column: column(thrown.at), text: thrown.message, unfinished: thrown.at >= line.trimEnd().length },
    };
  }
}

interface Read {
  readonly value: unknown;
  readonly end: number;
}

function readValue(line: string, at: number, depth: number): Read {
  switch (line[at]) {
    case '{': {
      const { members, end } = readObject(line, at, depth + 1);
      // fromEntries defines own properties, so a name like __proto__ stays a plain name.
      return { value: Object.fromEntries([...members].map(([name, { value }]) => [name, value])), end };
    }
    case '[':
      return readList(line, at, depth + 1);
    case '"':
      return readString(line, at);
    default: {
      const word = match(WORD, line, at);
      if (word !== undefined) return { value: WORDS[word], end: at + word.length };
      const number = match(NUMBER, line, at);
      if (number === undefined) throw new Unreadable(at, 'a value was expected here');
      return { value: Number(number), end: at + number.length };
    }
  }
}

function readObject(line: string, begin: number, depth: number) {
  if (depth > DEEPEST) throw new Unreadable(begin, 'too deep');
  const members = new Map<string, { readonly value: unknown; readonly at: number }>();
  let at = skip(line, begin + 1);
  if (line[at] === '}') return { members, end: at + 1 };
  for (;;) {
    if (line[at] !== '"') throw new Unreadable(at, 'a name in quotes was expected here');
    const { value, end } = readString(line, at);
    const name = String(value);
    if (members.has(name)) throw new Unreadable(at, `${JSON.stringify(name.slice(0, 60))} is given a second time`);
    at = expect(line, skip(line, end), ':');
    at = skip(line, at);
    const member = readValue(line, at, depth);
    members.set(name, { value: member.value, at });
    at = skip(line, member.end);
    if (line[at] === '}') return { members, end: at + 1 };
    at = skip(line, expect(line, at, ','));
  }
}

function readList(line: string, begin: number, depth: number): Read {
  if (depth > DEEPEST) throw new Unreadable(begin, 'too deep');
  const value: unknown[] = [];
  let at = skip(line, begin + 1);
  if (line[at] === ']') return { value, end: at + 1 };
  for (;;) {
    const entry = readValue(line, at, depth);
    value.push(entry.value);
    at = skip(line, entry.end);
    if (line[at] === ']') return { value, end: at + 1 };
    at = skip(line, expect(line, at, ','));
  }
}

function readString(line: string, at: number): Read {
  const text = match(STRING, line, at);
  if (text === undefined) throw new Unreadable(at, 'a quote is opened here and never closed');
  try {
    return { value: JSON.parse(text) as string, end: at + text.length };
  } catch {
    throw new Unreadable(at, 'not a JSON string: a control character or a wrong escape');
  }
}

function expect(line: string, at: number, char: string): number {
  if (line[at] !== char) throw new Unreadable(at, `${JSON.stringify(char)} was expected here`);
  return at + 1;
}

function skip(line: string, at: number): number {
  return at + (match(SPACE, line, at) ?? '').length;
}

function match(pattern: RegExp, line: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[0];
}
