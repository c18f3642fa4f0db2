import { completionBash } from './bash.ts';
import { completionFish } from './fish.ts';
import { completionZsh } from './zsh.ts';

export const COMPLETION_COMMANDS = [completionBash, completionZsh, completionFish];
