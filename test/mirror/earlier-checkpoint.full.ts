/** Cuts of other accounts, asked again. */
import { it } from 'vitest';
import { saidAgain } from './earlier-checkpoint.ts';

it.each([
  ['default', 1],
  ['minimal', 7],
] as const)('say again what was said when the later one was made: %s, seed %i', saidAgain);
