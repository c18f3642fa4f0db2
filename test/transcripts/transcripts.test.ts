/** The stories of what moves money, and the guide; `transcripts.full.ts` has all. */
import { everyStory } from './transcripts.ts';

everyStory({ isWhole: false });
