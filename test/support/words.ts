/** Splits a command line as a plain shell would: blanks, single and double quotes, backslashes. No expansion. */
export function words(line: string): string[] {
  const found: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let index = 0; index < line.length; index++) {
    const char = line[index] ?? '';
    if (quote === "'") {
      if (char === "'") quote = '';
      else word += char;
    } else if (char === '\\' && (quote === '' || '"\\$'.includes(line[index + 1] ?? ''))) {
      word = (word ?? '') + (line[++index] ?? '');
    } else if (quote === '"') {
      if (char === '"') quote = '';
      else word += char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (quote !== '') throw new Error(`unclosed quote in: ${line}`);
  if (word !== undefined) found.push(word);
  return found;
}
