/** The topics of `help`. */
import type { Leaves } from '../../cli/parsing/command.ts';

export const HELP_TOPICS: Leaves = {
  'help options': async () => (await import('./options.ts')).helpOptions,
  'help environment': async () => (await import('./environment.ts')).helpEnvironment,
  'help exit-codes': async () => (await import('./exit-codes.ts')).helpExitCodes,
  'help output': async () => (await import('./output.ts')).helpOutput,
  'help safety': async () => (await import('./safety.ts')).helpSafety,
  'help scripting': async () => (await import('./scripting.ts')).helpScripting,
  'help scenarios': async () => (await import('./scenarios.ts')).helpScenarios,
};
