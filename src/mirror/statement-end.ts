/** Where the first statement of SQL text ends. The engine drops what follows without a word, so we look ourselves. */

/** Quotes that open and the one that closes each. */
const CLOSING: Readonly<Record<string, string>> = { "'": "'", '"': '"', '`': '`', '[': ']' };

/** What is wrong with the text as one statement: nothing in it, or something behind it. Undefined when it is one. */
export function notOneStatement(sql: string): string | undefined {
  if (sql.includes('\0')) return 'a NUL character stands in it';
  let isBegun = false;
  let isEnded = false;
  for (let at = 0; at < sql.length; ) {
    const skipped = skipBlank(sql, at);
    if (skipped > at) {
      at = skipped;
      continue;
    }
    const character = sql[at] ?? '';
    if (character === ';') {
      isEnded ||= isBegun;
      at += 1;
      continue;
    }
    if (isEnded) return 'one statement at a time: something stands behind the first one';
    isBegun = true;
    at = skipToken(sql, at);
  }
  return isBegun ? undefined : 'there is no statement in it';
}

/** Behind white space and comments; a comment without an end goes to the end. */
function skipBlank(sql: string, at: number): number {
  if (/\s/.test(sql[at] ?? '')) return at + 1;
  if (sql.startsWith('--', at)) return endOf(sql, sql.indexOf('\n', at), 1);
  if (sql.startsWith('/*', at)) return endOf(sql, sql.indexOf('*/', at + 2), 2);
  return at;
}

function skipToken(sql: string, at: number): number {
  const closing = CLOSING[sql[at] ?? ''];
  if (closing === undefined) return at + 1;
  // A doubled quote stands for itself; read as two quoted texts side by side it ends in the same place.
  return endOf(sql, sql.indexOf(closing, at + 1), 1);
}

function endOf(sql: string, found: number, length: number): number {
  return found < 0 ? sql.length : found + length;
}
