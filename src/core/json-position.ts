/** Where a text stops being JSON: the parser of the platform says so only of some faults, and in words of its version. */

interface JsonPosition {
  /** From 1. */
  readonly line: number;
  /** From 1, in code points. */
  readonly column: number;
}

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const ATOM = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;

/** What may come next. */
type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end' | 'nothing';

/** The first position that no JSON text has; undefined where all of it is JSON. */
export function brokenJsonAt(text: string): JsonPosition | undefined {
  const open: ('[' | '{')[] = [];
  let expected: Expected = 'value';
  for (let at = skip(text, 0, SPACE); ; at = skip(text, at, SPACE)) {
    const sign = text[at];
    if (sign === undefined) return expected === 'nothing' ? undefined : positionOf(text, at);
    const step = stepOf(text, at, { expected, sign, open });
    if (step === undefined) return positionOf(text, at);
    at = step.end;
    expected = step.next;
  }
}

interface Reading {
  readonly expected: Expected;
  readonly sign: string;
  readonly open: ('[' | '{')[];
}

interface StepRead {
  readonly end: number;
  readonly next: Expected;
}

function stepOf(text: string, at: number, { expected, sign, open }: Reading): StepRead | undefined {
  const inside = (): Expected => (open.length === 0 ? 'nothing' : ', or end');
  const closes = sign === (open.at(-1) === '[' ? ']' : '}');
  if (expected === ':') return sign === ':' ? { end: at + 1, next: 'value' } : undefined;
  if (expected.startsWith('name') && sign === '"') return endOf(skip(text, at, STRING), at, ':');
  if (open.length > 0 && closes && /or/.test(expected)) {
    open.pop();
    return { end: at + 1, next: inside() };
  }
  if (expected === ', or end' && sign === ',') return { end: at + 1, next: open.at(-1) === '[' ? 'value' : 'name' };
  if (!expected.startsWith('value')) return undefined;
  if (sign === '[' || sign === '{') {
    open.push(sign);
    return { end: at + 1, next: sign === '[' ? 'value or ]' : 'name or }' };
  }
  return endOf(skip(text, at, sign === '"' ? STRING : ATOM), at, inside());
}

function endOf(end: number, at: number, next: Expected): StepRead | undefined {
  return end > at ? { end, next } : undefined;
}

/** Behind what the pattern takes from there; where it takes nothing, there. */
function skip(text: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}

function positionOf(text: string, at: number): JsonPosition {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 };
}

/** `line 3, column 9: not JSON`, of a text that is none. */
export function notJson(text: string): string {
  const position = brokenJsonAt(text);
  return position === undefined ? 'not JSON' : `line ${position.line}, column ${position.column}: not JSON`;
}
