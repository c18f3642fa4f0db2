/** The topics of `help`. */
import { helpEnvironment } from './environment.ts';
import { helpExitCodes } from './exit-codes.ts';
import { helpOptions } from './options.ts';
import { helpOutput } from './output.ts';
import { helpSafety } from './safety.ts';
import { helpScenarios } from './scenarios.ts';
import { helpScripting } from './scripting.ts';

export const HELP_TOPICS = [
  helpOptions,
  helpEnvironment,
  helpExitCodes,
  helpOutput,
  helpSafety,
  helpScripting,
  helpScenarios,
];
