/** Refunds in part that come late; `late-changes.full.ts` has those of the whole. */
import { lateChanges } from './late-changes.ts';

lateChanges({ isWhole: false });
