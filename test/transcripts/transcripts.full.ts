/** Every story. */
import { everyStory } from './transcripts.ts';

everyStory({ isWhole: true });
