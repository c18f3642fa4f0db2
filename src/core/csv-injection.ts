/** Text cells of CSV that a spreadsheet would run as a formula, guarded on the way out and back again on the way in. */

/**
 * Text a spreadsheet would run, or text that already looks guarded and must survive the way back. Some take the
 * full-width and the small form of a sign for the sign, and pass over blanks before it.
 */
const FORMULA = /^'*(?:[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/;

/** A CSV text cell that no spreadsheet runs as a formula. Numbers do not pass here. */
export function guardFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Takes off what `guardFormula` put on, for reading our own CSV again. */
export function unguardFormula(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}
