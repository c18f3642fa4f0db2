import type { Leaves } from '../../cli/parsing/command.ts';

export const CHALLENGE_COMMANDS: Leaves = {
  '3ds list': async () => (await import('./list.ts')).listChallenges,
  '3ds wait': async () => (await import('./wait.ts')).waitChallenge,
  '3ds watch': async () => (await import('./watch.ts')).watchChallenges,
};
