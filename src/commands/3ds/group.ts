import { listChallenges } from './list.ts';

export const CHALLENGE_COMMANDS = [listChallenges];
