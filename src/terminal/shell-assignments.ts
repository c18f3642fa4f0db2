/** Variables and words as a shell reads them. */
import { shellQuote, shellWord } from '../core/shell-quote.ts';

/** Variables of ours, by their own names, for `eval "$(… -o env)"`. */
export function assignments(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${shellQuote(value)}\n`)
    .join('');
}

/** Words as a line to read and to copy: those that no shell acts upon stay bare. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}
