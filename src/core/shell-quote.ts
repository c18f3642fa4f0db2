/** Text as words of a POSIX shell, for commands to copy. An id of a service may hold anything a shell acts upon. */

/**
 * The text as one shell word; inside single quotes a POSIX shell expands nothing. fish reads a backslash even there, so
 * that one stands in double quotes, where all of them read it alike.
 */
export function shellQuote(text: string): string {
  // A shell word cannot hold NUL: it would be cut or refused, so it is made visible.
  const parts = text.replaceAll('\0', '\\x00').replace(/[\\']/g, found => (found === "'" ? "'\\''" : `'"\\\\"'`));
  return `'${parts}'`;
}

/** As `shellQuote`, but a text that no shell acts upon stays bare; zsh looks up a program behind `=`, fish a job behind `%`. */
export function shellWord(text: string): string {
  return /^[\w.:@/+,-][\w.:@/=+,%-]*$/.test(text) ? text : shellQuote(text);
}
