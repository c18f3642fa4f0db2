/** The nearest known word to a mistyped one. A suggestion is shown, never run. */

/**
 * The shortest candidate that begins with the word, else one at most two edits away: one for short words, and for those
 * that begin with another letter.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  // Two letters say enough of a word to take them for its beginning.
  const isBeginning = word.replace(/^--?/, '').length >= 2;
  const begun = candidates.filter(each => isBeginning && each.startsWith(word)).sort((a, b) => a.length - b.length);
  // Two edits make half of a word of four letters another one.
  const mayMean = (each: string) => word.length > 5 || (word.length > 3 && word[0] === each[0]);
  const mistyped = candidates
    .map(candidate => ({ candidate, edits: editDistance(word.slice(0, 40), candidate) }))
    .filter(({ candidate, edits }) => edits <= 1 || (edits === 2 && mayMean(candidate)))
    .sort((a, b) => a.edits - b.edits);
  return begun[0] ?? mistyped[0]?.candidate;
}

/** ` Did you mean "list"?`, behind a sentence; empty where nothing is near. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`;
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
