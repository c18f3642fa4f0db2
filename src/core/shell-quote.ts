/** Text as words of a POSIX shell, for commands to copy. An id of a service may hold anything a shell acts upon. */

/** The text as one shell word; inside single quotes a POSIX shell expands nothing. */
export function shellQuote(text: string): string {
  // A shell word cannot hold NUL: it would be cut or refused, so it is made visible.
  return `'${text.replaceAll('\0', '\\x00').replaceAll("'", "'\\''")}'`;
}

/** As `shellQuote`, but a text that no shell acts upon stays bare. */
export function shellWord(text: string): string {
  return /^[\w.:@/=+,%-]+$/.test(text) ? text : shellQuote(text);
}
