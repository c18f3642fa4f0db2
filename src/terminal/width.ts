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
