/** The whole of `late-changes.test.ts`. */
import { lateChanges } from './late-changes.ts';

lateChanges({ isWhole: true });
