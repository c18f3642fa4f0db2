/** What is wrong with a log, and the way on. */

/** Which line is wrong and why; undefined for one that follows the one before. */
export type Flaw = { readonly line: number; readonly why: string };

/** The way on when a log cannot be continued. */
export function beginAgain(path: string): string {
  return `To begin a new log, move ${path} and ${path.replace(/jsonl$/, 'head')} away; keep them.`;
}
