/** A walk over a JSON text: where names and values stand, and where it stops being JSON. The parser of the platform tells neither. */

/** A name, or the beginning of a value. */
interface JsonToken {
  readonly is: 'name' | 'value';
  readonly at: number;
  /** Behind a name. */
  readonly end: number;
  /** Lists and objects around it. */
  readonly depth: number;
}

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const ATOM = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;
/** Deeper than anything that is meant. */
const DEEPEST = 1_000;

/** Tells every name and value in order. Returns the first place that no JSON text has and why; undefined where all of it is JSON. */
export function walkJson(
  text: string,
  visit: (token: JsonToken) => void,
): { readonly at: number; readonly text: string } | undefined {
  let [at, lacking] = [0, ''];
  const taken = (pattern: RegExp, what: string) => {
    pattern.lastIndex = at;
    const [found = ''] = pattern.exec(text) ?? [];
    at += found.length;
    if (found === '') lacking = what;
    return found !== '';
  };
  const space = () => taken(SPACE, lacking);
  const sign = (wanted: string) => {
    space();
    const isThere = text[at] === wanted;
    if (isThere) at += 1;
    else lacking = `"${wanted}" was expected here`;
    return isThere;
  };
  const members = (end: string, member: () => boolean) => {
    if (sign(end)) return true;
    do {
      if (!member()) return false;
    } while (sign(','));
    if (sign(end)) return true;
    lacking = '"," was expected here';
    return false;
  };
  const name = (depth: number): boolean => {
    space();
    const from = at;
    if (!taken(STRING, 'a name in quotes was expected here')) return false;
    visit({ is: 'name', at: from, end: at, depth });
    return sign(':');
  };
  const value = (depth: number): boolean => {
    lacking = 'it is nested too deep';
    if (depth > DEEPEST) return false;
    space();
    visit({ is: 'value', at, end: at, depth });
    if (sign('[')) return members(']', () => value(depth + 1));
    if (sign('{')) return members('}', () => name(depth + 1) && value(depth + 1));
    return taken(STRING, '') || taken(ATOM, 'a value was expected here');
  };
  const isWhole = value(0);
  space();
  if (isWhole && at === text.length) return undefined;
  const isText = text[at] === '"' && lacking.startsWith('a ');
  return {
    at,
    text: isWhole
      ? 'there is text behind the end'
      : isText
        ? 'a text in quotes is not closed, or has a wrong escape'
        : lacking,
  };
}

/** `line 3, column 9: not JSON`, of a text that is none; columns are code points. */
export function notJson(text: string): string {
  const broken = walkJson(text, () => undefined);
  if (broken === undefined) return 'not JSON';
  const before = text.slice(0, broken.at).split('\n');
  return `line ${before.length}, column ${[...(before.at(-1) ?? '')].length + 1}: not JSON`;
}
