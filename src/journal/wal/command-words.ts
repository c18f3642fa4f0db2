/** A plan says which command has begun it, and its rows what they do: people are shown the command. */
import { CALLS } from '../../contract/raw.ts';

/** An operation that is not the one which a command is named after; a command with another name may do any. */
export function otherOperation(command: string, operations: readonly string[]): string | undefined {
  const own = command.replace(' ', '.');
  return Object.hasOwn(CALLS, own) ? operations.find(operation => operation !== own) : undefined;
}
