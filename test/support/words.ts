/** Splits a command line as bash would: blanks, single and double quotes, `$'…'`, backslashes. No expansion. */
export function words(line: string): string[] {
  const found: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let index = 0; index < line.length; index++) {
    const char = line[index] ?? '';
    if (quote === "'") {
      if (char === "'") quote = '';
      else word += char;
    } else if (quote === '' && char === '$' && line[index + 1] === "'") {
      const end = line.indexOf("'", index + 2);
      word = (word ?? '') + ansi(line.slice(index + 2, end));
      index = end;
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

const NAMED: Readonly<Record<string, string>> = { e: '\x1b', n: '\n', t: '\t', r: '\r', a: '\x07' };

/** What bash makes of the inside of `$'…'`. */
function ansi(text: string): string {
  return text.replace(/\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|(.))/gi, (_, wide, byte, name) =>
    name === undefined ? String.fromCharCode(Number.parseInt(wide ?? byte, 16)) : (NAMED[name] ?? name),
  );
}
