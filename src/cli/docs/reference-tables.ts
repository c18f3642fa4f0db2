/** Tables of the reference, made from the declarations. */
import { ERROR_KINDS } from '../../core/errors.ts';
import { type Command, commandsOf, type Registry } from '../parsing/command.ts';
import { flagsOf } from '../parsing/resolved-flags.ts';

/** Markdown table of every command: what it is typed as, what it does, the operation behind it. */
export async function commandTable(registry: Registry): Promise<string> {
  const commands = (await Promise.all(registry.map(commandsOf))).flat();
  const rows = commands.map(command => `| \`${usage(command)}\` | ${command.summary} | ${command.operation ?? ''} |`);
  return ['| command | what it does | operation |', '|---|---|---|', ...rows].join('\n');
}

function usage(command: Command): string {
  const args = Object.entries(command.args).map(([name, { many }]) => (many ? `<${name}...>` : `<${name}>`));
  const needed = flagsOf(command).filter(flag => flag.needed);
  // A bar inside a table cell must be escaped to stay one cell.
  const flags = needed.map(({ name, placeholder }) => `${name} ${placeholder}`.trim().replaceAll('|', '\\|'));
  return [command.path, ...args, ...flags].join(' ');
}

/** Markdown table of exit codes, kinds and what they mean. */
export function exitCodeTable(): string {
  const rows = Object.entries(ERROR_KINDS).map(([kind, { exit, means }]) => `| ${exit} | \`${kind}\` | ${means} |`);
  return ['| code | kind | meaning |', '|---|---|---|', '| 0 | | Done, also an empty list. |', ...rows].join('\n');
}

/** Exit codes after which a script may run the same command again without looking first. */
export const REPEATABLE: readonly number[] = Object.values(ERROR_KINDS)
  .filter(kind => 'retryable' in kind)
  .map(({ exit }) => exit);
