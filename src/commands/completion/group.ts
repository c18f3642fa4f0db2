import type { Leaves } from '../../cli/parsing/command.ts';

export const COMPLETION_COMMANDS: Leaves = {
  'completion install': async () => (await import('./install.ts')).completionInstall,
  'completion uninstall': async () => (await import('./uninstall.ts')).completionUninstall,
  'completion bash': async () => (await import('./bash.ts')).completionBash,
  'completion zsh': async () => (await import('./zsh.ts')).completionZsh,
  'completion fish': async () => (await import('./fish.ts')).completionFish,
  'completion powershell': async () => (await import('./powershell.ts')).completionPowershell,
};
