/** Splits a bash line for completion. Nothing is ever expanded: `$(…)` stays the text it is. */

/** Words up to the end of the line; the last one, perhaps empty, stands under the cursor. A quote may be open. */
export function tokenize(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? '';
    if (quote === "'" || (quote === '"' && char !== '\\')) {
      if (char === quote) quote = '';
      else word = (word ?? '') + char;
    } else if (char === '\\') {
      const next = line[++at] ?? '';
      // Between double quotes a backslash is itself before most characters.
      word = (word ?? '') + (quote === '"' && !'"\\$`'.includes(next) ? `\\${next}` : next);
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (char === ' ' || char === '\t' || char === '\n') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  return [...words, word ?? ''];
}
