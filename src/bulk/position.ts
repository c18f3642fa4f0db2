/** Where in an input something stands, and what is wrong there. Lines and columns from 1, columns in code points. */

export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Fault extends Position {
  /** A sentence that names the column or the member; what stood there is quoted and shortened. */
  readonly text: string;
}

/** Code points of a text. */
export function pointsIn(text: string): number {
  return /[\ud800-\udbff]/.test(text) ? [...text].length : text.length;
}

/** `line 3, column 9: amount "1e3" is not an amount`. */
export function faultLine({ line, column, text }: Fault): string {
  return `line ${line}, column ${column}: ${text}`;
}
