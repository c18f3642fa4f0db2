/** Long lines on a narrow screen: broken at blanks, with the rest below the value they belong to. */
import type { Measure } from './width.ts';

/**
 * The line in pieces of at most `cells`, all but the first indented. Words of plain ASCII stay whole, however long:
 * an id or an address must be copied in one piece, and the terminal wraps it itself.
 */
export function fold(line: string, { cells, indent, measure }: Fold): string[] {
  if (measure.width(line) <= cells) return [line];
  const lead = ' '.repeat(indent < cells / 2 ? indent : 2);
  const lines: string[] = [];
  let current = '';
  for (const part of partsOf(line)) {
    const isOver = current.trim() !== '' && measure.width(current + part.trimEnd()) > cells;
    // A word that fits no line of its own gains nothing from another.
    if (isOver && measure.width(lead + part.trim()) <= cells) {
      lines.push(current.trimEnd());
      current = lead + part.trimStart();
    } else current += part;
  }
  return [...lines, current.trimEnd()].filter(each => each !== '');
}

export interface Fold {
  readonly cells: number;
  readonly indent: number;
  readonly measure: Measure;
}

/** Words with the blanks before them; text that is not plain ASCII may break between any two graphemes. */
function partsOf(line: string): string[] {
  const words = line.match(/ *[^ ]+| +$/g) ?? [];
  return words.flatMap(word =>
    /^[ -~]*$/.test(word) ? [word] : [...new Intl.Segmenter().segment(word)].map(({ segment }) => segment),
  );
}

/** A cell of a table in lines of at most `cells`, whatever the words: beside it stands another column. */
export function foldCell(text: string, cells: number, measure: Measure): string[] {
  return text
    .split('\n')
    .flatMap(line => fold(line, { cells, indent: 0, measure }))
    .flatMap(line => torn(line, cells, measure));
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
