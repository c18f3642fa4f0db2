/** Names and texts inside of a statement that a person copies. */

/** A name, quoted where it must be. */
export function identifier(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** A text in its quotes. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
