/**
 * Lines that a CI system takes for its own commands (RELIABILITY, F15). What is in somebody's label must not set an
 * output, mask a word or open a group of the job that prints it.
 */
import type { Environment } from '../host.ts';

/** GitHub and Azure look for `::` at the beginning of a line, and for `##[`, `##vso[` and `##teamcity[` anywhere. */
const COMMAND = /^(\s*):(?=:)|#(?=#(?:\[|vso\[|teamcity\[))/gim;

/** Azure Pipelines and TeamCity do not set `CI`. */
export function readsCommands(env: Environment): boolean {
  return ['CI', 'GITHUB_ACTIONS', 'TF_BUILD', 'TEAMCITY_VERSION'].some(name => env[name]);
}

/** Whether UTF-8 text is worth a look. */
export function mayHoldCommands(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return text.includes('::') || text.includes('##');
}

/** The text with such marks as an escape that people read and that JSON reads back as the same character. */
export function withoutCommands(text: string): string {
  if (!text.includes('::') && !text.includes('##')) return text;
  return text.replace(COMMAND, (_, space?: string) => (space === undefined ? '\\u0023' : `${space}\\u003a`));
}
