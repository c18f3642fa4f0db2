/** All cases of a table in the long proofs; in `npm test` the first, which the others vary. */
export const firstOf = <const T>(cases: readonly T[], { isWhole }: { readonly isWhole: boolean }): readonly T[] =>
  isWhole ? cases : cases.slice(0, 1);
