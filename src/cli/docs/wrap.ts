/** Plain text in 80 columns: help pages and topics. */
import { fold, ROUGHLY } from '../../terminal/fold.ts';

const WIDTH = 80;

/** `lead` and then `text`, wrapped with a hanging indent below the lead's end. Ends with a newline. */
export function hang(lead: string, text: string): string {
  const indent = ' '.repeat(lead.length);
  return fold(text, { cells: WIDTH - lead.length, indent: 0, measure: ROUGHLY })
    .map((line, index) => `${`${index === 0 ? lead : indent}${line}`.trimEnd()}\n`)
    .join('');
}

/** A paragraph. Ends with a newline. */
export function wrap(text: string): string {
  return hang('', text);
}

/** A command line for a person to copy, continued with backslashes where it is longer than the page. */
export function wrapCommand(lead: string, line: string): string {
  const [first = '', ...rest] = breakable(line);
  const lines = [lead + first];
  for (const part of rest) {
    const last = lines.at(-1) ?? '';
    // Two columns stay free for the backslash.
    if (last.length + 1 + part.length <= WIDTH - 2) lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(`${' '.repeat(lead.length + 2)}${part}`);
  }
  return `${lines.join(' \\\n')}\n`;
}

/** Where a line may be broken: before an option or a redirection, so that no quoted text is torn. */
function breakable(line: string): string[] {
  return line.split(/ (?=--?[a-z]|[<>|] )/);
}
