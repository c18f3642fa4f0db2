import { listChallenges } from './list.ts';
import { waitChallenge } from './wait.ts';
import { watchChallenges } from './watch.ts';

export const CHALLENGE_COMMANDS = [listChallenges, waitChallenge, watchChallenges];
