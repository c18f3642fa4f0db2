/** Options people look for and none of ours is: what is typed on a line can be read in the process list. */
import type { CliError } from '../../core/errors.ts';
import { usage } from './values.ts';

const WAYS_THAT_WORK: Readonly<Record<string, string>> = {
  '--api-key': 'cardwright login --key-stdin, or CARDWRIGHT_API_KEY',
  '--key': 'cardwright login --key-stdin, or CARDWRIGHT_API_KEY',
  '--secret': 'cardwright webhooks create --secret-file <file>, or --secret-stdin',
};

/** The refusal of an option that would take a secret, without its value; undefined for any other option. */
export function secretRefusal(option: string): CliError | undefined {
  const safer = Object.hasOwn(WAYS_THAT_WORK, option) ? WAYS_THAT_WORK[option] : undefined;
  if (safer === undefined) return undefined;
  return usage(`no option takes a secret, because other users could see it in the process list. Use ${safer}`);
}
