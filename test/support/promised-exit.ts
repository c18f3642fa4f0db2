/** Holds every exit code that a test sees against the list in the help of its command. */
import { endingsOf } from '../../src/cli/docs/answers.ts';
import { walk } from '../../src/cli/parsing/tree.ts';
import { REGISTRY } from '../../src/commands/registry.ts';

/** Throws when a command ended with a code it does not promise; a line that names no command promises nothing. */
export async function promisedExit(argv: readonly string[], code: number): Promise<void> {
  if (code === 0 || argv[0]?.startsWith('__')) return;
  // A line that is refused leads to no command.
  const command = (await walk(argv, REGISTRY).catch(() => undefined))?.node.declared;
  if (command === undefined || (command.rest === 'run for its exit code' && argv.includes('--'))) return;
  const promised = endingsOf(command).map(({ exit }) => exit);
  if (!promised.includes(code)) {
    throw new Error(`${command.path} ended with ${code}; its help promises 0, ${promised.join(', ')}`);
  }
}
