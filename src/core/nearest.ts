/** The nearest known word to a mistyped one. A suggestion is shown, never run. */

/** Letters that say enough of a word to take them for its beginning. */
const BEGINNING = 2;

/**
 * The shortest candidate that begins with the word, else one at most two edits away: one for short words, and for those
 * that begin with another letter.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  return completed(word, candidates) ?? mistyped(word, candidates);
}

/** ` Did you mean "list"?`, behind a sentence; empty where nothing is near. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`;
}

function completed(word: string, candidates: readonly string[]): string | undefined {
  if (word.replace(/^--?/, '').length < BEGINNING) return undefined;
  return candidates.filter(each => each.startsWith(word)).sort((a, b) => a.length - b.length)[0];
}

function mistyped(word: string, candidates: readonly string[]): string | undefined {
  const scored = candidates
    .map(candidate => ({ candidate, edits: editDistance(word.slice(0, 40), candidate) }))
    .filter(({ candidate, edits }) => edits <= 1 || (edits === 2 && mayMean(word, candidate)))
    .sort((a, b) => a.edits - b.edits);
  return scored[0]?.candidate;
}

/** Two edits make half of a word of four letters another one. */
function mayMean(word: string, candidate: string): boolean {
  return word.length > 5 || (word.length > 3 && word[0] === candidate[0]);
}

/** Optimal string alignment: insert, delete, replace, swap of neighbours. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((row[j - 1] ?? 0) + 1, (last[j] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) best = Math.min(best, (before[j - 2] ?? 0) + 1);
      row.push(best);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
