/** A file as it is written: text after text, so that a long one is never whole in memory. */
export interface Piece {
  readonly text: string;
  /** Lines of the statement in it. */
  readonly lines: number;
}

/** The whole text; for tests and for what is printed. */
export function textOf(pieces: Iterable<Piece>): string {
  let text = '';
  for (const piece of pieces) text += piece.text;
  return text;
}
