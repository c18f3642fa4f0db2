/** A checkpoint as the mirror keeps it. */
import type { CheckpointRow } from '../books/rows.ts';

/** With where the syncs and the changes of records stood: times alone do not order them within a second. */
export type KeptCheckpoint = CheckpointRow & { readonly sync: number; readonly changes: number };
