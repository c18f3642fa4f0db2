/** Where a text stops being JSON: the parser of the platform says so only of some faults, and in words of its version. */

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const ATOM = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;
/** Deeper than anything that is meant. */
const DEEPEST = 1_000;

/** The first position that no JSON text has, from 1, columns in code points; undefined where all of it is JSON. */
export function brokenJsonAt(text: string): { readonly line: number; readonly column: number } | undefined {
  let at = 0;
  const taken = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const [found = ''] = pattern.exec(text) ?? [];
    at += found.length;
    return found !== '';
  };
  const sign = (wanted: string) => {
    taken(SPACE);
    const isThere = text[at] === wanted;
    if (isThere) at += 1;
    return isThere;
  };
  const members = (end: string, member: () => boolean) => {
    if (sign(end)) return true;
    do {
      if (!member()) return false;
    } while (sign(','));
    return sign(end);
  };
  const value = (depth: number): boolean => {
    if (depth > DEEPEST) return false;
    if (sign('[')) return members(']', () => value(depth + 1));
    if (sign('{')) {
      return members('}', () => {
        taken(SPACE);
        return taken(STRING) && sign(':') && value(depth + 1);
      });
    }
    return taken(STRING) || taken(ATOM);
  };
  const isWhole = value(0);
  taken(SPACE);
  if (isWhole && at === text.length) return undefined;
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 };
}

/** `line 3, column 9: not JSON`, of a text that is none. */
export function notJson(text: string): string {
  const position = brokenJsonAt(text);
  return position === undefined ? 'not JSON' : `line ${position.line}, column ${position.column}: not JSON`;
}
