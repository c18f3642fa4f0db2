/** What is said beside the answer, in lines of the screen's width: no word is torn, and no command to copy is broken. */
import { fold, ROUGHLY } from './fold.ts';

/** What stands before a command to copy, and the command: after `try:` and `See:` anything is one. */
const COMMAND = /^(?:(try:|See:|(?:.*[^ ])?:) )?((?<=(?:try|See): ).*|cardwright .*)$/;

/**
 * The printable line as lines of at most `cells`. Columns of it, two blanks apart, come below each other; a command
 * stands whole on a line of its own, however long.
 */
export function fitted(line: string, cells: number): string[] {
  if (ROUGHLY.width(line) <= cells) return [line];
  const lead = /^ */.exec(line)?.[0] ?? '';
  const below = `${lead}  `;
  const [first = '', ...more] = line.trim().split(/ {2,}/);
  if (more.length > 0) return [lead + first, ...more.map(part => below + part)].flatMap(part => fitted(part, cells));
  const [, before, command] = COMMAND.exec(first) ?? [];
  if (command === undefined) return fold(line, { cells, indent: below.length, measure: ROUGHLY });
  return before === undefined ? [line] : [...fitted(lead + before, cells), below + command];
}
