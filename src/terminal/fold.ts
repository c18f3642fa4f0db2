/** How many terminal cells a text takes. Home of string-width. */

export interface Measure {
  /** Cells of a printable text: CJK and joined emoji 2, combining marks 0. */
  width(text: string): number;
  /** The text in at most `cells` cells, whole graphemes, ending in the ellipsis when something was left out. */
  shorten(text: string, cells: number): string;
}

/** The measure, with the ellipsis to shorten by. */
export async function createMeasure(ellipsis: string): Promise<Measure> {
  const { default: width } = await import('string-width');
  const segmenter = new Intl.Segmenter();

  const shorten = (text: string, cells: number): string => {
    if (width(text) <= cells) return text;
    const room = cells - ellipsis.length;
    let kept = '';
    let used = 0;
    for (const { segment } of segmenter.segment(text)) {
      used += width(segment);
      if (used > room) break;
      kept += segment;
    }
    return room < 0 ? ellipsis.slice(0, Math.max(0, cells)) : `${kept}${ellipsis}`;
  };

  return { width: text => width(text), shorten };
}

/**
 * The line in pieces of at most `cells`, all but the first indented. Words stay whole, those of plain ASCII however long:
 * an id or an address must be copied in one piece, and the terminal wraps it itself. Other scripts may break anywhere.
 */
export function fold(
  line: string,
  { cells, indent, measure }: { readonly cells: number; readonly indent: number; readonly measure: Measure },
): string[] {
  if (measure.width(line) <= cells) return [line];
  const lead = ' '.repeat(indent < cells / 2 ? indent : 2);
  const lines: string[] = [];
  let current = '';
  const fits = (text: string) => measure.width(lead + text.trimStart()) <= cells;
  // Two blanks stand between values: what is one value stays together where it can.
  const values = line.match(/ *[^ ]+(?: [^ ]+)*/g) ?? [];
  for (const word of values.flatMap(value => (fits(value) ? [value] : (value.match(/ *[^ ]+/g) ?? [])))) {
    // What fits no line of its own breaks where this one ends.
    if (current.trim() === '' || measure.width(current + word) <= cells || !fits(word)) current += word;
    else {
      lines.push(current);
      current = lead + word.trimStart();
    }
    const isAscii = /^[ -~]*$/.test(word);
    const parts = isAscii ? [current] : torn(current, cells, measure);
    current = parts.pop() ?? '';
    lines.push(...parts);
  }
  return [...lines, current];
}

/** Two cells for whatever may take two: a line that is broken early costs nothing, and nothing has to be loaded. */
export const ROUGHLY: Measure = {
  width: text => [...text].reduce((cells, each) => cells + (each < '\u1100' ? 1 : 2), 0),
  shorten: text => text,
};

/** A cell of a table in lines of at most `cells`; with `isLast` nothing stands beside it, and a word stays whole as in `fold`. */
export function foldCell(text: string, cells: number, measure: Measure, isLast: boolean): string[] {
  const lines = fold(text, { cells, indent: 0, measure });
  return isLast ? lines : lines.flatMap(line => torn(line, cells, measure));
}

function torn(line: string, cells: number, measure: Measure): string[] {
  const lines = [''];
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && measure.width(last + segment) > cells) lines.push(segment.trimStart());
    else lines[lines.length - 1] = last + segment;
  }
  return lines;
}

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
