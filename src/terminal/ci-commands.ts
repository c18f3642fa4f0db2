/**
 * Lines that a CI system takes for its own commands (docs/design/security.md, F15). What is in somebody's label must
 * not set an output, mask a word or open a group of the job that prints it.
 */
import type { Environment } from '../platform/host.ts';

/** GitHub and Azure look for `::` at the beginning of a line, and for `##[`, `##vso[` and `##teamcity[` anywhere. */
const MARK = /:(?=:)|#(?=#(?:\[|vso\[|teamcity\[))/gi;
/** A line ends here for some reader: for .NET and Python at U+0085 and the ASCII separators too. */
const LINE_END = /[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/;

/** Azure Pipelines and TeamCity do not set `CI`. */
export function readsCommands(env: Environment): boolean {
  return ['CI', 'GITHUB_ACTIONS', 'TF_BUILD', 'TEAMCITY_VERSION'].some(name => env[name]);
}

/** Whether UTF-8 text is worth a look. */
export function mayHoldCommands(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return text.includes('::') || text.includes('##');
}

/** The text with such marks as an escape that people read and that JSON reads back as the same character. */
export function withoutCommands(text: string): string {
  if (!text.includes('::') && !text.includes('##')) return text;
  return text.replace(MARK, (mark, at: number) => {
    if (mark === '#') return '\\u0023';
    return beginsLine(text, at) ? '\\u003a' : mark;
  });
}

/** Whether nothing that is seen stands between the beginning of its line and this place. */
function beginsLine(text: string, place: number): boolean {
  // A reader that trims, or compares texts as people read them, passes over blanks and whatever is not seen. Every start
  // loads this file, and V8 takes half a millisecond to read properties of Unicode.
  const passedOver = /[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;
  for (let at = place - 1; at >= 0; at -= 1) {
    const character = text[at] ?? '';
    if (LINE_END.test(character)) return true;
    if (!passedOver.test(character)) return false;
  }
  return true;
}
