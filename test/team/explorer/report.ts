/** What a search has found, as a page to read. */
import type { Searched } from './search.ts';

export function pageOf(what: string, { states, steps, carriedOut, takenOver, broken }: Searched): string {
  const head = `## ${what}\n\n${states} states, ${steps} steps; carried out in ${carriedOut}, ended by another process in ${takenOver}\n`;
  if (broken === undefined) return head;
  return `${head}\n${broken.promise}:\n\n${broken.history.map(line => `- ${line}\n`).join('')}`;
}
