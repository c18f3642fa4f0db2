import { completionBash } from './bash.ts';
import { completionFish } from './fish.ts';
import { completionInstall } from './install.ts';
import { completionPowershell } from './powershell.ts';
import { completionUninstall } from './uninstall.ts';
import { completionZsh } from './zsh.ts';

export const COMPLETION_COMMANDS = [
  completionInstall,
  completionUninstall,
  completionBash,
  completionZsh,
  completionFish,
  completionPowershell,
];
