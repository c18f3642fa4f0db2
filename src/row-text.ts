/** Rows of a list as the service wrote them, from the reader of its pages to the writer of the output. */

/** Rows as JSON text: plain values only, the same members in the same order in each. */
export interface WrittenRows {
  readonly count: number;
  readonly fields: readonly string[];
  /** JSON text of one row, and of its id. */
  row(index: number): string;
  id(index: number): string;
  /** All rows as UTF-8, a line each. */
  lines(): Uint8Array;
  /** Where each value stands; undefined when the text is not plain ASCII without escapes. */
  spans(): Spans | undefined;
}

/** Begin and end of every value in `text`, row after row, in the order of the fields. */
export interface Spans {
  readonly text: string;
  readonly places: Int32Array;
}
