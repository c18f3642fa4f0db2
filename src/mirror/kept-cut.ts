/** A cut as the mirror keeps it. */
import type { CutRow } from '../books/rows.ts';

/** With where the syncs and the changes of records stood: times alone do not order them within a second. */
export type KeptCut = CutRow & { readonly sync: number; readonly changes: number };
